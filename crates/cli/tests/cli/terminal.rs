//! What a person sees of the plain progress on a terminal while a test runs and when it has ended: rows of a screen,
//! not bytes. The screen that fills the window is in `screen.rs`.

use std::process::Command;

use crate::lab::Lab;
use crate::pty::Terminal;

const TERM: &str = "xterm-256color";

/// Two scenarios whose lines are longer than 60 columns, and a log line now and then.
const TWO: &str = "import { sleep } from 'k6';
    const one = { executor: 'per-vu-iterations', vus: 2, iterations: 3 };
    export const options = { scenarios: { browse_the_catalogue: one, buy: { ...one, exec: 'buy' } } };
    export default function () { sleep(1.1); }
    export function buy() { sleep(1.1); if (__VU === 1 || __VU === 3) console.log(`bought ${__ITER}`); }";

/// Figures differ from run to run; their number of digits does not.
fn masked(rows: &[String]) -> String {
    let lines =
        rows.iter().map(|row| row.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>());
    // A busy machine makes the verdict a last line. Whose log line it is depends on who came first.
    let lines = lines.take_while(|row| !row.starts_with("WARN["));
    lines.filter(|row| !row.contains("bought")).map(|row| row + "\n").collect()
}

fn pictures(rows: &[String]) -> usize {
    rows.iter().filter(|row| row.contains("running (")).count()
}

/// A busy machine may leave one out.
fn is_second_tick(row: &str) -> bool {
    ["02", "03", "04"].iter().any(|second| row.starts_with(&format!("running ({second}")))
}

fn golden(columns: usize, expected: &str) {
    let lab = Lab::with(TWO);
    // Without warnings of the generator, which a busy machine has.
    let arguments = ["run", "--no-tui", "--summary-mode", "disabled", "--accept-late", "script.js"];
    let mut terminal = Terminal::start(&lab, &arguments, (columns, 24), TERM);
    let during = terminal.until("second tick", |rows| rows.iter().any(|row| is_second_tick(row)));
    assert_eq!(pictures(&during), 1, "old pictures stay:\n{}", during.join("\n"));
    let (code, rows) = terminal.ends();
    assert_eq!(code, 0, "{}", rows.join("\n"));
    assert_eq!(masked(&rows), expected, "{columns} columns:\n{}", rows.join("\n"));
    assert_eq!(rows.iter().filter(|row| row.starts_with("INFO[") && row.contains("bought")).count(), 3, "{rows:?}");
}

#[test]
fn the_progress_of_two_scenarios_fits_60_columns() {
    golden(
        60,
        "
     execution: local
        script: script.js
        output: -

     scenarios: (000.00%) 0 scenarios, 0 max VUs, 00m00s
                max duration (incl. graceful stop):
              * browse_the_catalogue: 0 iterations for each
                of 0 VUs (maxDuration: 00m0s, gracefulStop:
                00s)
              * buy: 0 iterations for each of 0 VUs
                (maxDuration: 00m0s, exec: buy,
                gracefulStop: 00s)

running (00.0s), 0/0 VUs, 00 complete, 0 interrupted
browse_the_catalog… ✓ 000%  0 VUs  00.0s/00m0s  0/0 iters,…
buy                 ✓ 000%  0 VUs  00.0s/00m0s  0/0 iters,…
",
    );
}

#[test]
fn the_progress_of_two_scenarios_fits_80_columns() {
    golden(
        80,
        "
     execution: local
        script: script.js
        output: -

     scenarios: (000.00%) 0 scenarios, 0 max VUs, 00m00s max duration (incl.
                graceful stop):
              * browse_the_catalogue: 0 iterations for each of 0 VUs
                (maxDuration: 00m0s, gracefulStop: 00s)
              * buy: 0 iterations for each of 0 VUs (maxDuration: 00m0s, exec:
                buy, gracefulStop: 00s)

running (00.0s), 0/0 VUs, 00 complete and 0 interrupted iterations
browse_the_catalogue ✓ [========] 000%  0 VUs  00.0s/00m0s  0/0 iters, 0 per VU
buy                  ✓ [========] 000%  0 VUs  00.0s/00m0s  0/0 iters, 0 per VU
",
    );
}

#[test]
fn the_progress_of_two_scenarios_fits_120_columns() {
    golden(
        120,
        "
     execution: local
        script: script.js
        output: -

     scenarios: (000.00%) 0 scenarios, 0 max VUs, 00m00s max duration (incl. graceful stop):
              * browse_the_catalogue: 0 iterations for each of 0 VUs (maxDuration: 00m0s, gracefulStop: 00s)
              * buy: 0 iterations for each of 0 VUs (maxDuration: 00m0s, exec: buy, gracefulStop: 00s)

running (00.0s), 0/0 VUs, 00 complete and 0 interrupted iterations
browse_the_catalogue ✓ [==================================] 000%  0 VUs  00.0s/00m0s  0/0 iters, 0 per VU
buy                  ✓ [==================================] 000%  0 VUs  00.0s/00m0s  0/0 iters, 0 per VU
",
    );
}

/// Long log lines wrap, and short ones do not: the picture stays below them all, once.
#[test]
fn log_lines_go_above_the_picture() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         export const options = { vus: 1, duration: '10m' };
         export default function () {
           console.log('a line ' + 'of very many words '.repeat(__ITER % 12));
           sleep(0.05);
         }",
    );
    let mut terminal = Terminal::start(&lab, &["run", "--no-tui", "script.js"], (60, 24), TERM);
    let rows = terminal.until("fourth second", |rows| rows.iter().any(|row| row.starts_with("running (04")));
    assert_eq!(pictures(&rows), 1, "old pictures stay:\n{}", rows.join("\n"));
    let [.., bar, pace] = rows.as_slice() else { panic!("{rows:?}") };
    assert!(bar.starts_with("default   [") && rows.len() > 24, "{}", rows.join("\n"));
    assert!(pace.contains(" iterations/s, p(95) "), "{pace}");
}

#[test]
fn a_window_that_changes_its_size_keeps_one_picture() {
    let lab = Lab::with(&TWO.replace("iterations: 3", "iterations: 300"));
    let mut terminal = Terminal::start(&lab, &["run", "--no-tui", "script.js"], (120, 24), TERM);
    for (second, columns) in [("01", 70), ("03", 50), ("05", 100)] {
        terminal.until("tick", |rows| rows.iter().any(|row| row.starts_with(&format!("running ({second}"))));
        terminal.resize(columns, 24);
    }
    let rows = terminal.until("tick", |rows| rows.iter().any(|row| row.starts_with("running (07")));
    assert_eq!(pictures(&rows), 1, "old pictures stay:\n{}", rows.join("\n"));
}

#[test]
fn ctrl_c_leaves_a_clean_picture_without_a_tick() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         export const options = { vus: 2, iterations: 2 };
         export default function () { sleep(600); }",
    );
    let mut terminal = Terminal::start(&lab, &["run", "--no-tui", "script.js"], (80, 24), TERM);
    terminal.until("tick", |rows| pictures(rows) == 1);
    // The terminal shows ^C where the cursor is; the signal comes from it only when it controls the process.
    terminal.types("\x03");
    terminal.until("^C", |rows| rows.iter().any(|row| row.contains("^C")));
    let status = Command::new("kill").args(["-INT", &terminal.pid().to_string()]).status().expect("kill runs");
    assert!(status.success());
    let (code, rows) = terminal.ends();
    let text = rows.join("\n");
    assert_eq!(code, 105, "{text}");
    let at = rows.iter().position(|row| row.starts_with("running (")).unwrap_or_else(|| panic!("no picture:\n{text}"));
    assert!(rows[at].contains("0 complete and 2 interrupted iterations"), "{text}");
    assert!(rows[at + 1].starts_with("default ✗ ["), "{text}");
    assert!(!text.contains("rurunning") && pictures(&rows) == 1, "{text}");
}

#[test]
fn escape_codes_go_only_where_they_are_understood() {
    let lab = Lab::with(
        "import { sleep, check } from 'k6';
         export default function () {
           check(1, { good: (v) => v === 1, bad: () => false });
           sleep(1.2);
           throw new Error('x');
         }",
    );
    for (term, no_color, has_colors, moves) in
        [(TERM, false, true, true), (TERM, true, false, true), ("dumb", false, false, false), ("", false, false, false)]
    {
        let arguments = if no_color {
            vec!["run", "--no-tui", "--no-color", "script.js"]
        } else {
            vec!["run", "--no-tui", "script.js"]
        };
        let mut terminal = Terminal::start(&lab, &arguments, (80, 24), term);
        terminal.ends();
        let text = String::from_utf8_lossy(&terminal.bytes()).into_owned();
        let colors = ["\x1b[31m", "\x1b[32m"].iter().any(|code| text.contains(code));
        assert_eq!(colors, has_colors, "colours, TERM={term}: {text:?}");
        assert_eq!(text.contains("\x1b[J"), moves, "TERM={term}: {text:?}");
        assert_eq!(text.contains('\x1b'), moves, "TERM={term}: {text:?}");
    }
}
