//! What shells and `man` know of the commands.

use std::process::Command;

use crate::lab::Lab;

#[test]
fn each_shell_has_a_script_that_knows_the_commands_and_flags() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = lab.onrush(&["completion", shell]).code(0).stdout;
        for known in ["summary-export", "compare", "accept-late", "referee"] {
            assert!(script.contains(known), "{shell} does not know {known}");
        }
    }
    lab.onrush(&["completion", "csh"]).code(255).says("invalid value 'csh'").says("bash");
}

#[test]
fn bash_completes_a_flag_of_run() {
    let lab = Lab::new();
    let script = lab.onrush(&["completion", "bash"]).code(0).stdout;
    let path = lab.file("onrush.bash", &script);
    let ask = format!(
        "source '{}'; COMP_WORDS=(onrush run --accept); COMP_CWORD=2; _onrush onrush --accept run; \
         echo \"${{COMPREPLY[*]}}\"",
        path.display()
    );
    let Ok(told) = Command::new("bash").arg("-c").arg(ask).output() else {
        eprintln!("not tested: there is no bash on this machine");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), "--accept-late", "{told:?}");
}

#[test]
fn each_command_has_a_manual_page() {
    let lab = Lab::new();
    lab.onrush(&["man", "pages"]).code(0).prints("begin with `man pages/onrush.1`");
    for page in ["onrush.1", "onrush-run.1", "onrush-compare.1", "onrush-serve.1", "onrush-matrix.1"] {
        assert!(lab.read(&format!("pages/{page}")).contains(".TH "), "{page}");
    }
    assert!(lab.read("pages/onrush-run.1").contains("accept"), "the flags are there");
    lab.file("taken", "");
    lab.onrush(&["man", "taken"]).code(255).says("cannot write manual pages to taken: ");
}
