//! The fuzzer finds what is planted, says what it was, and ends by itself.

use std::process::{Command, Output};

fn fuzz(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("fuzz").args(["--seed", "1", "--patience", "1"]).args(arguments).output().expect("xtask runs")
}

#[test]
fn planted_faults_are_found() {
    for (canary, why) in [("canary-panic", "the canary is gone"), ("canary-hang", "it hangs")] {
        let output = fuzz(&["--seconds", "1", canary]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{canary} was not found");
        assert!(told.contains(why) && told.contains("cat"), "{told}");
    }
}

#[test]
fn an_unknown_subject_is_refused() {
    let output = fuzz(&["nothing"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown subject 'nothing', expected one of url, "));
}
