//! Every example runs against the embedded target without a failed check.

use std::path::Path;

use crate::lab::Lab;

#[test]
fn every_example_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(&folder).expect("the examples") {
        let path = entry.expect("an entry").path();
        if !path.extension().is_some_and(|e| e == "js" || e == "ts") {
            continue;
        }
        let script = path.to_str().expect("a UTF-8 path");
        let run = Lab::new().onrush(&["run", "-q", "--serve", "-e", "DURATION=1s", script]).code(0);
        assert!(!run.stderr.contains("level=error"), "{script}: {}", run.stderr);
        assert!(!run.stdout.contains('✗'), "{script}: {}", run.stdout);
        seen += 1;
    }
    assert!(seen > 0, "no example in {}", folder.display());
}
