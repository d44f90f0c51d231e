//! The screen of a run on a terminal of its own: what a person sees, presses and gets back.

use std::process::Command;

use crate::lab::Lab;
use crate::pty::Terminal;

const TERM: &str = "xterm-256color";
const WINDOW: (usize, usize) = (80, 24);
const OPENS: &str = "\x1b[?1049h";
const CLOSES: &str = "\x1b[?1049l";

/// Numbered lines, and something of every list.
const SCRIPT: &str = "import http from 'k6/http'; import { check, sleep } from 'k6';
    export const options = {
      vus: 1, duration: '600s',
      thresholds: { http_req_duration: ['p(95)<5000'], checks: ['rate>0.99'] },
    };
    export default function () {
      const response = http.get(__ENV.TARGET);
      check(response, { 'is fine': (r) => r.status === 200, 'is odd': () => __ITER % 2 });
      console.log(`line ${__ITER}.`);
      sleep(0.2);
    }";

fn start(lab: &Lab, flags: &[&str], size: (usize, usize)) -> Terminal {
    let arguments: Vec<&str> = ["run"].into_iter().chain(flags.iter().copied()).chain(["script.js"]).collect();
    let mut command = lab.command(&arguments);
    command.env_remove("CI");
    Terminal::with(command, size, TERM)
}

fn has(text: &str) -> impl Fn(&[String]) -> bool {
    move |rows| rows.iter().any(|row| row.contains(text))
}

fn written(terminal: &Terminal) -> String {
    String::from_utf8_lossy(&terminal.bytes()).into_owned()
}

fn count(terminal: &Terminal, code: &str) -> usize {
    written(terminal).matches(code).count()
}

fn signal(terminal: &Terminal, name: &str) {
    let status = Command::new("kill").args([name, &terminal.pid().to_string()]).status().expect("kill runs");
    assert!(status.success());
}

/// Every line that the script logged is there once, in order.
fn assert_lines(rows: &[String]) {
    let number = |row: &String| -> Option<usize> { row.split_once("line ")?.1.split_once('.')?.0.parse().ok() };
    let found: Vec<usize> = rows.iter().filter_map(number).collect();
    assert!(found.len() > 5, "{}", rows.join("\n"));
    assert_eq!(found, (0..found.len()).collect::<Vec<_>>(), "{}", rows.join("\n"));
}

#[test]
fn keys_change_the_picture_and_s_ends_the_test() {
    let lab = Lab::with(SCRIPT);
    let mut terminal = start(&lab, &["--serve"], WINDOW);
    let first = terminal.until("screen", has("q leave"));
    assert_eq!(first.len(), 24, "{}", first.join("\n"));
    for text in ["running ", "requests/s", " generator ", "http_req_duration ", " scenarios  default"] {
        assert!(has(text)(&first), "{text}:\n{}", first.join("\n"));
    }
    assert!(!terminal.is_as_shells_want_it());
    terminal.until("the log", has(" log        INFO["));
    let judged = terminal.until("a judged threshold", has("✓ http_req_duration p(95)<5000"));
    assert!(has("✗ checks rate>0.99: ")(&judged) && has("✗ is odd: ")(&judged), "{}", judged.join("\n"));
    terminal.types("\t");
    terminal.until("the next metric", has(" 2 of "));
    terminal.types("\x1b[D\x1b[Z");
    terminal.until("the last metric", |rows| !has(" 1 of ")(rows) && !has(" 2 of ")(rows));
    terminal.types("?");
    terminal.until("help", has("┌ keys ─"));
    terminal.types("?p");
    let paused = terminal.until("pause", |rows| has(" PAUSED")(rows) && !has("┌ keys ─")(rows));
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let later = terminal.rows();
    assert_eq!((&later[0], &later[1]), (&paused[0], &paused[1]), "it stands still");
    terminal.types(" ");
    terminal.until("going on", |rows| !has("PAUSED")(rows) && rows[0] != paused[0]);
    terminal.types("s");
    let (code, rows) = terminal.ends();
    // A threshold is crossed as well, but what stopped the test counts.
    assert_eq!(code, 105, "{}", rows.join("\n"));
    assert_eq!((count(&terminal, OPENS), count(&terminal, CLOSES)), (1, 1));
    assert!(terminal.is_as_shells_want_it());
    assert_lines(&rows);
    let at = |text: &str| rows.iter().rposition(|row| row.contains(text)).unwrap_or_else(|| panic!("{text}: {rows:?}"));
    assert!(at("execution: local") < at("line 0.") && at("line 3.") < at("TOTAL RESULTS"), "{}", rows.join("\n"));
    assert!(rows.iter().any(|row| row.starts_with("running (")), "the last progress stays: {}", rows.join("\n"));
}

#[test]
fn q_gives_the_plain_progress_and_all_lines_back() {
    let lab = Lab::with(&SCRIPT.replace("600s", "5s"));
    let mut terminal = start(&lab, &["--serve", "--no-thresholds"], WINDOW);
    terminal.until("screen", has("q leave"));
    terminal.types("q");
    let rows = terminal.until("the plain progress", |rows| rows.iter().any(|row| row.starts_with("running (0")));
    assert!(has("line 0.")(&rows) && !has("q leave")(&rows), "{}", rows.join("\n"));
    assert!(terminal.is_as_shells_want_it());
    let (code, rows) = terminal.ends();
    assert_eq!(code, 0, "{}", rows.join("\n"));
    assert_lines(&rows);
    assert_eq!((count(&terminal, OPENS), count(&terminal, CLOSES)), (1, 1));
}

#[test]
fn signals_give_the_terminal_back() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         console.log('from init code');
         export const options = { scenarios: { it: {
           executor: 'constant-vus', vus: 1, duration: '600s', gracefulStop: '600s' } } };
         export default function () { sleep(600); }",
    );
    let mut terminal = start(&lab, &[], WINDOW);
    terminal.until("screen", has("q leave"));
    signal(&terminal, "-TERM");
    terminal
        .until("the first signal", |rows| has("TOTAL RESULTS")(rows) || has("STOPPING")(rows) || has("q leave")(rows));
    // A test that hangs on would be ended by the second one; this one ends by the first.
    let (code, rows) = terminal.ends();
    assert_eq!(code, 105, "{}", rows.join("\n"));
    assert!(terminal.is_as_shells_want_it() && count(&terminal, CLOSES) == 1);
    assert!(has("from init code")(&rows) && has("TOTAL RESULTS")(&rows), "{}", rows.join("\n"));

    // A user that never lets go: the second signal ends the process with the screen still open.
    lab.file("script.js", "export default function () { for (;;); }");
    let mut terminal = start(&lab, &["--duration", "600s"], WINDOW);
    terminal.until("screen", has("q leave"));
    signal(&terminal, "-INT");
    signal(&terminal, "-TERM");
    let (code, rows) = terminal.ends();
    assert_eq!(code, 105, "{}", rows.join("\n"));
    assert!(terminal.is_as_shells_want_it(), "{}", rows.join("\n"));
    assert_eq!(count(&terminal, OPENS), 1);
    // A second time by whoever ends the process, where the thread that writes had no turn for a moment.
    assert!(matches!(count(&terminal, CLOSES), 1 | 2));
}

#[test]
fn a_tiny_window_has_one_line_and_a_larger_one_everything() {
    let lab = Lab::with(SCRIPT);
    let mut terminal = start(&lab, &["--serve", "--no-tui=false"], (20, 5));
    let tiny = terminal.until("one line", |rows| rows.len() == 1 && rows[0].contains("requests"));
    assert!(tiny[0].chars().count() <= 20, "{tiny:?}");
    terminal.resize(100, 30);
    terminal.until("a large screen", |rows| rows.len() == 30 && has("? help")(rows));
    terminal.resize(30, 6);
    terminal.until("one line again", |rows| rows.iter().filter(|row| !row.is_empty()).count() == 1);
    signal(&terminal, "-INT");
    assert_eq!(terminal.exit_code(), 105);
}

#[test]
fn elsewhere_there_is_no_screen() {
    let lab = Lab::with("import { sleep } from 'k6'; export default function () { sleep(2.3); }");
    let on = |flags: &[&str], size, (name, value): (&str, &str)| {
        let arguments: Vec<&str> = ["run"].into_iter().chain(flags.iter().copied()).chain(["script.js"]).collect();
        let mut command = lab.command(&arguments);
        command.env_remove("CI").env(name, value);
        Terminal::with(command, size, if name == "DUMB" { "dumb" } else { TERM })
    };
    let none = ("NOTHING", "");
    let all = [
        (true, on(&[], WINDOW, none)),
        (true, on(&["-q", "--no-tui=false"], WINDOW, none)),
        (false, on(&["-q"], WINDOW, none)),
        (false, on(&["--no-tui"], WINDOW, none)),
        (false, on(&[], (59, 24), none)),
        (false, on(&[], WINDOW, ("CI", "true"))),
        (false, on(&[], WINDOW, ("ONRUSH_NO_TUI", "true"))),
        (false, on(&["--no-tui=false"], WINDOW, ("DUMB", ""))),
    ];
    for (number, (expected, mut terminal)) in all.into_iter().enumerate() {
        assert_eq!(terminal.exit_code(), 0);
        assert_eq!(written(&terminal).contains(OPENS), expected, "case {number}: {}", written(&terminal));
    }
}

/// More than a screen may hold closes it: nothing is dropped.
#[test]
fn a_script_that_logs_megabytes_closes_the_screen() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         const text = 'x'.repeat(100000);
         export const options = { iterations: 102 };
         export default function () { sleep(__ITER ? 0 : 2.2); console.log(text); }",
    );
    let mut terminal = start(&lab, &[], WINDOW);
    assert_eq!(terminal.exit_code(), 0);
    let text = written(&terminal);
    assert_eq!((text.matches(OPENS).count(), text.matches(CLOSES).count()), (1, 1));
    let after = text.split_once(CLOSES).expect("it closes").1;
    assert_eq!(after.matches("INFO").count(), 102);
    assert!(text.contains("the screen has closed, because the script logs megabytes"));
    assert!(terminal.is_as_shells_want_it());
}

#[test]
fn agents_are_watched_from_their_coordinator() {
    let lab = Lab::with(SCRIPT);
    let mut terminal = start(&lab, &["--agents", "2", "--vus", "2", "-e", "TARGET=http://127.0.0.1:1/"], WINDOW);
    let rows = terminal.until("errors of agents", |rows| has("connection refused × ")(rows) && has("2/2 VUs")(rows));
    assert!(has("each agent judges itself")(&rows), "{}", rows.join("\n"));
    terminal.types("s");
    let (code, rows) = terminal.ends();
    assert_eq!(code, 105, "{}", rows.join("\n"));
    assert!(terminal.is_as_shells_want_it());
}
