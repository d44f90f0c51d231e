//! Files that are empty, cut short, unknown, too large or contradictory: what is said, and that nothing is lost.

use std::io::Write;

use super::convert;
use crate::lab::Lab;

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let lab = Lab::new();
    for (name, text, said) in [
        ("empty.har", " \n", "empty.har: it is empty: there is nothing to convert"),
        (
            "cut.har",
            "{\"log\": {\"entries\": [\n{\"request\": {\"met",
            "cut.har:2:17: the JSON ends here, in the middle",
        ),
        (
            "other.json",
            "{\"a\": 1}",
            "other.json: found JSON with 'a' at its top, expected one of: command lines of curl",
        ),
        ("words.txt", "hello\nworld\n", "cannot tell the format of a text that begins 'hello'"),
        ("log.har", "{\"log\": {}}", "log.har: found JSON without 'log.entries'"),
        ("none.sh", "curl\n", "command lines of curl: there is no request to convert"),
    ] {
        convert(&lab, name, text).code(255).says(said);
    }
    lab.onrush(&["convert", "missing.har"]).code(255).says("cannot read missing.har: No such file");
    std::fs::write(lab.path().join("latin.sh"), b"curl http://h/\ncurl http://h/\xe9\n").expect("a file");
    lab.onrush(&["convert", "latin.sh"]).code(255).says("latin.sh:2: found bytes that are not UTF-8 text");
}

#[test]
fn files_are_kept_unless_told_otherwise() {
    let lab = Lab::new();
    lab.file("a.sh", "curl http://h/");
    lab.file("a.js", "mine");
    lab.onrush(&["convert", "a.sh", "-O", "a.js"]).code(255).says("a.js exists already; write --force to replace it");
    assert_eq!(lab.read("a.js"), "mine");
    lab.onrush(&["convert", "a.sh", "-O", "a.js", "-f"]).code(0).says("a.js: 1 request, from command lines of curl");
    assert!(lab.read("a.js").contains("http://h"));
    lab.onrush(&["convert", "a.sh", "--base-url", "h"]).code(255).says("--base-url: found 'h', expected a URL");
    lab.onrush(&["convert", "a.sh", "--base-url", "https://x/"]).code(0).prints("|| 'https://x';");
    lab.onrush(&["convert", "a.sh", "--from", "har"])
        .code(255)
        .says("a.sh:1:1: this is not the JSON that was expected");
}

/// 60 MB of answers; the suite `convert` of xtask has 200.
#[test]
fn a_large_recording_is_read_entry_by_entry() {
    let lab = Lab::new();
    let file = std::fs::File::create(lab.path().join("large.har")).expect("a file");
    let mut file = std::io::BufWriter::new(file);
    file.write_all(b"{\"log\":{\"entries\":[").expect("written");
    let answer = "lorem ipsum ".repeat(20_000);
    for number in 0..250 {
        let comma = if number == 0 { "" } else { "," };
        let entry = format!(
            "{comma}{{\"request\":{{\"method\":\"GET\",\"url\":\"http://h/{number}\"}},\"response\":{{\"status\":200,\
             \"content\":{{\"text\":\"{answer}\"}}}}}}"
        );
        file.write_all(entry.as_bytes()).expect("written");
    }
    file.write_all(b"]}}").expect("written");
    file.into_inner().expect("written");
    let mut command = lab.command(&[]);
    let program = command.get_program().to_owned();
    command = std::process::Command::new("bash");
    command.current_dir(lab.path());
    // Address space in KiB: far below the file with its answers.
    let line = format!("ulimit -d 50000; {} convert large.har", program.display());
    let run = crate::lab::finish({
        command.args(["-c", &line]);
        command
    });
    run.code(0).says("the script: 250 requests").prints("`${BASE_URL}/249`");
}
