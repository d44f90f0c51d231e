//! Names, URLs and messages cannot steer the terminal they are printed on: control characters are shown.

use crate::lab::Lab;

/// What a terminal obeys, and what turns the order of characters around.
const STEERING: [char; 5] = ['\x1b', '\r', '\u{9b}', '\u{7f}', '\u{202e}'];

const SCRIPT: &str = r#"
import http from 'k6/http'
import { check, group } from 'k6'
export const options = { thresholds: { 'checks{check:red\u001b[31m}': ['rate>0'] } }
export default function () {
  group('clear\u001b[2J\r\nforged', () => check(1, {
    'red\u001b[31m': () => true, 'forged\n    ✓ line\r': () => false,
    'turned\u202e c1\u009b31m del\u007f tab\t': () => true,
  }))
  http.get('http://127.0.0.1:1/\u202e', { tags: { name: 'x' } })
  throw new Error('boo\u001b[2J\r\u009b')
}
"#;

#[test]
fn names_and_messages_are_printed_with_their_controls_shown() {
    let lab = Lab::with(SCRIPT);
    for format in ["text", "raw"] {
        let run = lab.run(&["--summary-mode", "full", "--log-format", format]).code(0);
        for (place, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
            assert!(!text.contains(STEERING), "{format} {place}: {text:?}");
        }
        let run = run
            .prints("    checks{check:red\\x1b[31m}\n")
            .prints("    ✓ red\\x1b[31m\n")
            .prints("    ✗ forged\\n    ✓ line\\r\n")
            .prints("    ✓ turned\\u202e c1\\u009b31m del\\x7f tab\\t\n")
            .prints("GROUP: clear\\x1b[2J\\r\\nforged");
        run.says("boo\\x1b[2J\\r");
    }
}

#[test]
fn messages_about_arguments_are_too() {
    let lab = Lab::new();
    let run = lab.onrush(&["run", "evil\x1b[2J\r.js"]);
    assert_ne!(run.code, 0);
    assert!(!run.stderr.contains(STEERING), "{:?}", run.stderr);
    run.says("evil\\x1b[2J\\r.js");
    let run = lab.onrush(&["report", "no\x1b[31m"]);
    assert!(!run.stderr.contains(STEERING), "{:?}", run.stderr);
}

/// As in k6: the text format quotes what a script prints, the raw format gives it as it is.
#[test]
fn what_a_script_prints_is_data() {
    let lab = Lab::with(r"export default function () { console.log('a\u001b[31mb\r\u202e') }");
    lab.run(&["--log-format", "raw"]).code(0).says("a\x1b[31mb\r\u{202e}");
    lab.run(&[]).code(0).says(r#"msg="a\x1b[31mb\r\u202e""#);
    let raw = lab.run(&["--log-format", "json"]).code(0).stderr;
    let line: serde_json::Value = serde_json::from_str(raw.lines().next().expect("a line")).expect("JSON");
    assert_eq!(line["msg"], "a\x1b[31mb\r\u{202e}");
}
