//! A whole run as text, where there is no screen to draw on or no colour to draw with: in a pipe, on `TERM=dumb`, with
//! NO_COLOR, and in a window of 20×5. Goldens in tests/plain; `ONRUSH_BLESS=1` stores them anew.

use std::path::Path;
use std::process::Command;

use crate::lab::{Lab, finish};
use crate::pty::Terminal;

/// Whatever the machine does, each figure keeps its unit: times are whole seconds and more, or not shown.
const SCRIPT: &str = "import { check, sleep } from 'k6';
    export const options = {
      scenarios: { browse: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } },
      thresholds: { checks: ['rate>0.9'], iterations: ['count>1'] },
      summaryTrendStats: ['count'],
    };
    export default function () {
      check(1, { 'is one': (v) => v === 1, 'is two': (v) => v === 2 });
      sleep(1.1);
    }";

fn lab() -> Lab {
    Lab::with(SCRIPT)
}

fn command(lab: &Lab) -> Command {
    let mut command = lab.command(&["run", "--accept-late", "--log-output", "none", "script.js"]);
    command.env_remove("CI");
    command
}

/// Every number is `N`, and the spaces behind one are as many as its digits leave: one here.
fn masked(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut masked = String::new();
        for c in line.trim_end().chars() {
            match c {
                '0'..='9' if masked.ends_with('N') => {}
                '0'..='9' => masked.push('N'),
                '.' if masked.ends_with('N') => masked.push('.'),
                c => masked.push(c),
            }
        }
        while masked.contains("N.N") {
            masked = masked.replace("N.N", "N");
        }
        out.push_str(&squeezed(&masked));
        out.push('\n');
    }
    out
}

/// Runs of spaces behind a figure depend on its length.
fn squeezed(line: &str) -> String {
    let Some(at) = line.find('N') else { return line.to_owned() };
    let (head, tail) = line.split_at(at);
    let words: Vec<&str> = tail.split(' ').filter(|word| !word.is_empty()).collect();
    format!("{head}{}", words.join(" "))
}

/// Without the lines about the generator, which a busy machine has more of: from the verdict to the next blank line,
/// and at the end.
fn of_the_run(text: &str) -> String {
    let mut is_about_machine = false;
    let mut kept = String::new();
    for line in text.lines() {
        is_about_machine |= ["TRUSTED", "SUSPECT", "INVALID"].iter().any(|verdict| line.trim().starts_with(verdict));
        is_about_machine &= !line.trim().is_empty();
        if line.contains("█ GENERATOR") {
            break;
        }
        if !is_about_machine {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[track_caller]
fn is_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plain").join(name);
    let found = masked(of_the_run(text).trim_end());
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, &found).expect("written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name}: expected\n{expected}\nfound\n{found}\nfrom\n{text}");
}

#[test]
fn in_a_pipe() {
    let lab = lab();
    let run = finish(command(&lab)).code(99);
    assert!(!run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'), "{run:?}");
    is_golden("pipe.txt", &run.stdout);
}

/// What the terminal got, and what a person sees on it.
fn on_terminal(size: (usize, usize), term: &str, env: &[(&str, &str)]) -> (String, String) {
    let lab = lab();
    let mut command = command(&lab);
    command.envs(env.iter().copied());
    let mut terminal = Terminal::with(command, size, term);
    let (code, rows) = terminal.ends();
    assert_eq!(code, 99, "{}", rows.join("\n"));
    (String::from_utf8_lossy(&terminal.bytes()).into_owned(), rows.join("\n"))
}

#[test]
fn on_a_dumb_terminal() {
    let (bytes, rows) = on_terminal((80, 24), "dumb", &[]);
    assert!(!bytes.contains('\x1b'), "{bytes:?}");
    is_golden("dumb.txt", &rows);
}

/// Codes that move the cursor stay, those that colour do not.
#[test]
fn without_colours() {
    let none = [("NO_COLOR", "1"), ("ONRUSH_NO_TUI", "true")];
    let (bytes, rows) = on_terminal((80, 24), "xterm-256color", &none);
    assert!(bytes.contains("\x1b[") && colours(&bytes).is_empty(), "{:?}", colours(&bytes));
    is_golden("no-color.txt", &rows);
    let (bytes, _) = on_terminal((80, 24), "xterm-256color", &none[1..]);
    assert!(!colours(&bytes).is_empty(), "there are colours where nobody is against them");
    // The screen, too.
    let (bytes, _) = on_terminal((80, 24), "xterm-256color", &none[..1]);
    assert!(bytes.contains("\x1b[?1049h") && colours(&bytes).is_empty(), "{:?}", colours(&bytes));
}

/// Codes of the form `ESC [ … m` that name a colour.
fn colours(bytes: &str) -> Vec<&str> {
    let codes = bytes.split("\x1b[").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        rest[end..].starts_with('m').then(|| &rest[..end])
    });
    let is_colour = |code: &&str| {
        code.split([';', ':']).any(|part| {
            part.parse::<u16>().is_ok_and(|number| matches!(number, 30..=38 | 40..=48 | 90..=97 | 100..=107))
        })
    };
    codes.filter(is_colour).collect()
}

/// Nothing of the progress is wider than the window, so that it can be drawn in place.
#[test]
fn in_a_tiny_window() {
    let (bytes, rows) = on_terminal((20, 5), "xterm-256color", &[]);
    assert!(!bytes.contains("\x1b[?1049h"), "no screen fits in there");
    let summary = rows.find("THRESHOLDS").or_else(|| rows.find("TOTAL RESULTS")).expect("the summary");
    is_golden("20x5.txt", &rows[..summary]);
}
