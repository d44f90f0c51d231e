//! Readers that are slow, gone or never there: they cost lines, which are counted, and never load.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use report::document::{Value, read};

use crate::lab::{Lab, finish};

/// Ends by itself, with nobody reading what is piped.
fn ends(child: &mut Child) -> i32 {
    let end = Instant::now() + Duration::from_secs(90);
    loop {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return status.code().unwrap_or(-1);
        }
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            panic!("onrush waits for its reader");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn text(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).expect("readable");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// More than any queue may hold.
const LOUD: &str = "const line = 'x'.repeat(100000);
    export const options = { vus: 4, iterations: 600 };
    export default function () { console.error(line); }";

fn iterations(lab: &Lab) -> f64 {
    let result = read(lab.path().join("r")).expect("a saved result");
    match result.metric("iterations").map(|metric| &metric.value) {
        Some(Value::Counter { count, .. }) => *count,
        other => panic!("no counter: {other:?}"),
    }
}

#[test]
fn an_unread_stderr_costs_lines_and_nothing_else() {
    let lab = Lab::with(LOUD);
    let mut command = lab.command(&["run", "-q", "--save", "r", "script.js"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("onrush starts");
    let _unread = child.stderr.take();
    let code = ends(&mut child);
    let stdout = text(child.stdout.take().expect("piped"));
    assert_eq!(code, 0, "{stdout}");
    assert_eq!(iterations(&lab), 600.0);
    assert!(stdout.contains("log lines dropped because standard error was not read fast enough: "), "{stdout}");
    let notes = read(lab.path().join("r")).expect("a saved result").generator.notes;
    assert!(notes.iter().any(|note| note.starts_with("log lines dropped because standard error")), "{notes:?}");
}

#[test]
fn an_unread_stdout_does_not_hold_up_the_test_and_is_an_error_when_it_takes_no_summary() {
    let lab = Lab::with(&LOUD.replace("console.error", "console.log"));
    let mut command = lab.command(&["run", "--log-output", "stdout", "--save", "r", "script.js"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("onrush starts");
    let _unread = child.stdout.take();
    let code = ends(&mut child);
    assert_eq!(iterations(&lab), 600.0);
    assert_eq!(code, 111);
    assert_eq!(read(lab.path().join("r")).expect("a saved result").exit.code, 111);
    drop(child.stderr.take());
}

#[test]
fn a_signal_ends_a_run_whose_stderr_nobody_reads() {
    let lab = Lab::with(&LOUD.replace("iterations: 600", "duration: '10m'").replace("vus: 4", "vus: 2"));
    let mut command = lab.command(&["run", "-q", "--save", "r", "script.js"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("onrush starts");
    let _unread = child.stderr.take();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs").success());
    assert_eq!(ends(&mut child), 105);
    let stdout = text(child.stdout.take().expect("piped"));
    assert!(stdout.contains("TOTAL RESULTS"), "{stdout}");
}

#[test]
fn a_reader_that_keeps_up_gets_every_line_of_the_console() {
    let lab = Lab::with(
        "export const options = { vus: 8, iterations: 4000 };
         export default function () { for (let i = 0; i < 5; i++) console.log('the same line'); }",
    );
    let run = lab.run(&[]).code(0);
    assert_eq!(run.stderr.matches("msg=\"the same line\"").count(), 20_000, "{}", run.stdout);
    lab.run(&["--console-output", "lines.txt"]).code(0);
    assert_eq!(lab.read("lines.txt").lines().count(), 20_000);
    lab.run(&["--log-output", "file=log.txt"]).code(0);
    assert_eq!(lab.read("log.txt").lines().count(), 20_000);
}

#[test]
fn a_summary_that_cannot_be_printed_is_an_error() {
    let lab = Lab::with("export default function () {}");
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the full device");
    let on_full = |arguments: &[&str]| {
        let mut command = lab.command(arguments);
        let mut child = command.stdout(full()).stderr(Stdio::piped()).spawn().expect("onrush starts");
        let code = ends(&mut child);
        (code, text(child.stderr.take().expect("piped")))
    };
    let (code, stderr) = on_full(&["run", "-q", "--save", "r", "script.js"]);
    assert_eq!(code, 111, "{stderr}");
    assert!(
        stderr.contains(
            "cannot write the summary to standard output: No space left on device (os error 28); \
             --summary-export FILE or --save DIR keeps it in a file"
        ),
        "{stderr}"
    );
    assert_eq!(read(lab.path().join("r")).expect("a saved result").exit.code, 111);
    assert_eq!(on_full(&["run", "-q", "--summary-mode", "disabled", "script.js"]).0, 0, "nothing was asked for there");
    lab.file(
        "elsewhere.js",
        "export default function () {} export function handleSummary() { return { 'summary.txt': 'here' }; }",
    );
    assert_eq!(on_full(&["run", "-q", "elsewhere.js"]).0, 0, "nothing was asked for there");
    lab.file(
        "fails.js",
        "export const options = { thresholds: { iterations: ['count>5'] } }; export default () => {};",
    );
    assert_eq!(on_full(&["run", "-q", "fails.js"]).0, 99, "a test that failed says why it did");
}

/// What a command was asked for is not lost in silence either; `| head` has had enough.
#[test]
fn tables_that_cannot_be_printed_are_an_error() {
    let lab = Lab::new();
    let plan = "rounds = 1\n[axes]\nsize = [1, 2]\n[load]\nurl = \"{base}/bytes/{size}\"\nrequests = 3\n\
                [[variants]]\nname = \"one\"\nserve = {}\n";
    lab.file("plan.toml", plan);
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the full device");
    for (arguments, message) in [
        (
            &["matrix", "plan.toml", "--dry-run"][..],
            "error: cannot write to standard output: No space left on device (os error 28); \
             `onrush table RESULT -o FILE` writes to a file\n",
        ),
        (&["version"], "error: cannot write to standard output: No space left on device (os error 28)\n"),
        (
            &["curl", "http://h/", "--show-script"],
            "error: cannot write to standard output: No space left on device (os error 28)\n",
        ),
    ] {
        let mut child = lab.command(arguments).stdout(full()).stderr(Stdio::piped()).spawn().expect("onrush starts");
        let code = ends(&mut child);
        assert_eq!((code, text(child.stderr.take().expect("piped")).as_str()), (111, message), "{arguments:?}");
        let mut child = lab.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        drop(child.stdout.take());
        let code = ends(&mut child);
        assert_eq!((code, text(child.stderr.take().expect("piped")).as_str()), (0, ""), "{arguments:?}");
    }
}

#[test]
fn a_target_goes_on_when_nobody_reads_its_output() {
    let lab = Lab::new();
    let mut command = lab.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("onrush starts");
    let mut said = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    drop(said);
    let address = line.trim().strip_prefix("listening on http://").expect("its address");
    std::net::TcpStream::connect(address).expect("it listens");
    Command::new("kill").arg(child.id().to_string()).status().expect("kill runs");
    let code = ends(&mut child);
    assert_eq!((code, text(child.stderr.take().expect("piped")).as_str()), (0, ""));
}

/// A pipe gives its text once: k6's newer summary quotes the script as it was read.
#[test]
fn a_script_that_comes_by_a_pipe_is_read_once() {
    let lab = Lab::new();
    let script = "export default function () {}\nexport function handleSummary(data) { return { stdout: \
        data.config.script }; }\n";
    lab.file("source.js", script);
    let onrush = lab.command(&[]);
    let mut shell = Command::new("bash");
    shell.args(["-c", "exec \"$0\" run -q --new-machine-readable-summary <(cat source.js)"]).arg(onrush.get_program());
    shell.current_dir(lab.path());
    let run = crate::lab::finish(shell);
    assert_eq!((run.code, run.stdout.as_str()), (0, script), "{}", run.stderr);
}

#[test]
fn a_reader_that_has_gone_is_an_error_too() {
    let lab = Lab::with("import { sleep } from 'k6'; export default function () { sleep(0.5); }");
    let mut command = lab.command(&["run", "-q", "script.js"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("onrush starts");
    drop(child.stdout.take());
    assert_eq!(ends(&mut child), 111);
    let stderr = text(child.stderr.take().expect("piped"));
    assert!(stderr.contains("cannot write the summary to standard output: Broken pipe (os error 32); "), "{stderr}");
}

/// The standard library opens /dev/null in the place of a closed stream; a summary would be lost there, silently.
#[test]
fn a_closed_stdout_is_an_error_and_dev_null_is_none() {
    let lab = Lab::with("console.log('a line'); export default function () {}");
    let with = |redirection: &str| {
        let onrush = lab.command(&[]);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" run -q script.js {redirection}")]).arg(onrush.get_program());
        let mut child =
            shell.current_dir(lab.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("sh runs");
        let code = ends(&mut child);
        (code, text(child.stdout.take().expect("piped")), text(child.stderr.take().expect("piped")))
    };
    let (code, _, stderr) = with(">&-");
    assert_eq!(code, 111, "{stderr}");
    assert!(
        stderr.contains("cannot write the summary to standard output: Bad file descriptor (os error 9)"),
        "{stderr}"
    );
    for harmless in ["> /dev/null", "<> /dev/null 1>&0"] {
        let (code, _, stderr) = with(harmless);
        assert_eq!(code, 0, "{harmless}: {stderr}");
    }
    let (code, stdout, _) = with("2>&-");
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("log lines that could not be written to standard error: "), "{stdout}");
}

/// A reader that takes a few kilobytes now and then costs log lines, but no request and no time of the test.
#[test]
fn a_slow_stderr_costs_no_request() {
    let lab = Lab::with(
        "import http from 'k6/http';
         const line = 'x'.repeat(20000);
         export const options = { vus: 2, duration: '2s' };
         export default function () { http.get(__ENV.TARGET); console.error(line); }",
    );
    let mut command = lab.command(&["run", "-q", "--serve", "--save", "r", "script.js"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("onrush starts");
    let mut slow = child.stderr.take().expect("piped");
    let reading = std::thread::spawn(move || {
        let mut said = Vec::new();
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = slow.read(&mut bytes) {
            said.extend_from_slice(&bytes[..count]);
            std::thread::sleep(Duration::from_millis(20));
        }
        String::from_utf8_lossy(&said).into_owned()
    });
    assert_eq!(ends(&mut child), 0);
    let stdout = text(child.stdout.take().expect("piped"));
    assert!(stdout.contains("log lines dropped because standard error was not read fast enough: "), "{stdout}");
    let result = read(lab.path().join("r")).expect("a saved result");
    let count = |name: &str| match result.metric(name).map(|metric| &metric.value) {
        Some(Value::Counter { count, .. }) => *count,
        other => panic!("no counter: {other:?}"),
    };
    assert_eq!(count("http_reqs"), count("iterations"), "all requests are counted: {stdout}");
    let said = reading.join().expect("read");
    assert!(!said.contains("native code"), "{said}");
}

#[test]
fn order_is_kept_where_both_streams_are_one_pipe() {
    let lab = Lab::with("export default function () { console.log('before the summary'); }");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = lab.command(&["run", "-q", "script.js"]);
    let mut child = command.stdout(writer.try_clone().expect("a copy")).stderr(writer).spawn().expect("onrush starts");
    drop(command);
    let all = text(reader);
    assert_eq!(ends(&mut child), 0);
    let [line, summary] = ["before the summary", "TOTAL RESULTS"].map(|text| all.find(text).expect(text));
    assert!(line < summary, "{all}");
}

#[test]
fn equal_errors_fold_and_the_total_is_told() {
    let lab = Lab::with(
        "export const options = { vus: 4, iterations: 3000 };
         function fail() { throw new Error('no such item'); }
         export default function () { if (__ITER % 2) fail(); throw new Error('other'); }",
    );
    let run = lab.run(&[]);
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains("Error: no such item")).collect();
    assert!(lines.len() >= 2 && lines.len() < 30, "{}", run.stderr);
    assert!(lines[0].contains("\\n") && !lines[0].contains('×'), "the first as it is: {}", lines[0]);
    let last = lines.last().expect("lines");
    assert!(last.contains("Error: no such item at fail (file:///") && last.contains("script.js:2:"), "{last}");
    assert!(last.contains("hint=\"script exception\" scenario=default source=stacktrace"), "{last}");
    let total = |what: &str| -> u64 {
        let last = run.stderr.lines().rfind(|line| line.contains(what)).expect(what);
        let number = last.split_once(" × ").expect("a total").1.split_once('"').expect("a quote").0;
        number.replace(',', "").parse().expect("a number")
    };
    assert_eq!(total("no such item") + total("other"), 3000, "{}", run.stderr);
}

#[test]
fn failed_requests_fold_too() {
    let lab = Lab::with(
        "import http from 'k6/http';
         export const options = { vus: 2, iterations: 200 };
         export default function () { http.get('http://127.0.0.1:1/'); }",
    );
    let run = finish(lab.command(&["run", "-q", "script.js"]));
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains("Request Failed")).collect();
    assert!(lines.len() >= 2 && lines.len() < 30, "{}", run.stderr);
    let last = lines.last().expect("lines");
    assert!(
        last.contains("level=warning msg=\"Request Failed × 200\" error=\"Get \\\"http://127.0.0.1:1/\\\""),
        "{last}"
    );
}
