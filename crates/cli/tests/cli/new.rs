//! `new`: every template is a script that runs.

use crate::lab::Lab;

#[test]
fn every_template_runs() {
    for template in ["minimal", "protocol", "upload", "websocket", "grpc", "arrival-rate", "sse"] {
        let lab = Lab::new();
        lab.onrush(&["new", "--template", template, "mine.js"]).code(0).prints("onrush run --serve mine.js");
        let run = lab.onrush(&["run", "-q", "--serve", "-u", "1", "-i", "1", "mine.js"]).code(0);
        assert!(run.stdout.contains("checks_succeeded") && !run.stderr.contains("error"), "{template}: {run:?}");
    }
}

#[test]
fn declarations_are_written_beside_a_config() {
    let lab = Lab::new();
    lab.onrush(&["types"]).code(0).prints("tsconfig.json: written").prints("npm install --save-dev @types/k6");
    let http = lab.read("types/onrush/http.d.ts");
    assert!(http.contains("export * from \"k6/http\"") && lab.read("types/k6/x/sse.d.ts").contains("open"));
    assert!(lab.read("types/k6.d.ts").contains("network?:"));
    assert!(lab.read("tsconfig.json").contains("./types/onrush/*"));
    lab.file("tsconfig.json", "{}");
    lab.onrush(&["types", "deep/own"]).code(0).prints("tsconfig.json is there already").prints("./deep/own/onrush/*");
    assert_eq!(lab.read("tsconfig.json"), "{}");
    lab.onrush(&["types", "/tmp"]).code(255).says("expected a folder below the current one");
    lab.onrush(&["types", "../x"]).code(255).says("expected a folder below the current one");
}

#[test]
fn files_are_kept_and_templates_known() {
    let lab = Lab::new();
    lab.onrush(&["new"]).code(0).prints("script.js: the minimal template");
    lab.onrush(&["new"]).code(255).says("script.js exists already; write --force to replace it");
    lab.file("mine.js", "// my own");
    lab.onrush(&["new", "--force", "--template", "./mine.js"]).code(0);
    assert_eq!(lab.read("script.js"), "// my own");
    lab.onrush(&["new", "--template", "minimla", "a.js"])
        .code(255)
        .says("unknown template 'minimla'; did you mean 'minimal'?");
    lab.onrush(&["new", "--template", "./none.js", "a.js"]).code(255).says("cannot read the template ./none.js");
    lab.onrush(&["new", "--template", "browser", "a.js"]).code(255).says("there is no browser here");
    lab.onrush(&["new", "--project-id", "1", "a.js"]).code(255).says("there is no cloud here");
    lab.onrush(&["new", "none/a.js"]).code(255).says("cannot write none/a.js");
}
