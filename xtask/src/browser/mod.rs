//! `cargo xtask browser`: reports of real runs, opened in a real browser and looked at.
//!
//! Not part of `cargo test`, because it needs chromium. Two runs are saved (requests to the target, and the example
//! of people in one project with message delays), their reports made, and a small matrix with its page (and in
//! `live.rs` the page of a run that goes on); each is opened headless in a wide window by day, by night, and as
//! narrow as a phone. `probe.js` says what is wrong: script errors, anything asked of a network, charts that are not
//! drawn, labels on top of each other, a page wider than the screen, values under the pointer that do not show,
//! tables that do not follow a chosen stretch; with npm, axe-core says what is hard to read for whom. The report of
//! an hour, made up, says how large it is and how fast. Pictures are left in target/browser, to be looked at by a
//! person: no program knows whether a chart is good.

mod live;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Names that the browser goes by.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// A browser that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Requests of two kinds, some slow, some that fail, and metrics of the script's own.
const SCRIPT: &str = include_str!("shop.js");

/// A way to look at a page.
struct Look {
    name: &'static str,
    width: u32,
    dark: bool,
}

const LOOKS: [Look; 3] = [
    Look { name: "day", width: 1240, dark: false },
    Look { name: "night", width: 1240, dark: true },
    Look { name: "phone", width: 360, dark: false },
];

/// Makes the reports and looks at them.
pub fn run(onrush: &Path) -> Result<(), String> {
    let browser = find()?;
    let folder = crate::parity::workspace()?.join("target/browser");
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let axe = axe(&folder)?;
    let mut problems = Vec::new();
    for (name, charts) in [("shop", 14), ("collab", 8), ("matrix", 3)] {
        let report = match name {
            "matrix" => make_matrix(onrush, &folder.join(name))?,
            name => make_report(onrush, &folder, name)?,
        };
        for look in LOOKS {
            picture(&browser, &folder, &report, &look)?;
            let found = probe(&browser, &folder, &report, &look, charts, axe.as_deref())?;
            println!("{name} by {}: {}", look.name, if found.is_empty() { "fine" } else { "NOT FINE" });
            problems.extend(found.into_iter().map(|problem| format!("{name} by {}: {problem}", look.name)));
        }
    }
    problems.extend(live::look(&browser, &folder, onrush)?);
    canary(&browser, &folder)?;
    problems.extend(time_an_hour(&browser, &folder).err());
    println!("pictures are in {}", folder.display());
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Looks at a spoiled page: a probe that finds nothing there would find nothing anywhere.
fn canary(browser: &Path, folder: &Path) -> Result<(), String> {
    let page = folder.join("shop/report.html");
    let page = std::fs::read_to_string(&page).map_err(|error| format!("cannot read {}: {error}", page.display()))?;
    let spoilt =
        "<img src=\"http://127.0.0.1:9/x.png\"><p style=\"width:3000px\">wide</p><script>nothing()</script></main>";
    let spoilt = page.replacen("</main>", spoilt, 1).replacen(
        "<path class=\"line c0\" d=\"M",
        "<path class=\"line c0\" d=\"\" x=\"",
        30,
    );
    let path = folder.join("spoilt.html");
    std::fs::write(&path, spoilt).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let found = probe(browser, folder, &path, &LOOKS[0], 0, None)?;
    let expected = ["nothing is not defined", "asked for http://127.0.0.1:9", "wide on a screen of", "lines are drawn"];
    let missed: Vec<&str> =
        expected.into_iter().filter(|text| !found.iter().any(|problem| problem.contains(text))).collect();
    if missed.is_empty() {
        Ok(())
    } else {
        Err(format!("the probe misses what is wrong with a spoilt page: {missed:?}"))
    }
}

fn find() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Ok(PathBuf::from(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = candidates.into_iter().find(|candidate| candidate.is_file());
    found.ok_or_else(|| "no browser found: install chromium, or name its binary in $CHROMIUM".to_owned())
}

/// Runs a test with `--save` and makes its report.
fn make_report(onrush: &Path, folder: &Path, name: &str) -> Result<PathBuf, String> {
    let result = folder.join(name);
    let script = folder.join("shop.js");
    std::fs::write(&script, SCRIPT).map_err(|error| format!("cannot write {}: {error}", script.display()))?;
    let root = crate::parity::workspace()?;
    let mut command = Command::new(onrush);
    command.args(["run", "-q", "--save"]).arg(&result).args(["--label", "look=browser"]);
    match name {
        "collab" => {
            let example = root.join("examples/collab");
            let app = format!("--serve={}", example.join("app.js").display());
            command.args([app.as_str(), "-e", "DURATION=6s", "-e", "USERS=12"]).arg(example.join("load.js"));
        }
        _ => {
            command.arg("--serve").arg(&script);
        }
    }
    let (code, _, told) = finish(command)?;
    // Thresholds may be crossed on a busy machine; a report of that is as good to look at.
    if !matches!(code, Some(0 | 99)) {
        return Err(format!("the run of {name} ended with {code:?}:\n{told}"));
    }
    let mut command = Command::new(onrush);
    command.arg("report").arg(&result);
    match finish(command)? {
        (Some(0), ..) => Ok(result.join("report.html")),
        (code, _, told) => Err(format!("the report of {name} ended with {code:?}:\n{told}")),
    }
}

/// Three cells, one of their variants broken, so that failures are on the page too.
const PLAN: &str = r#"
name = "sizes <b>"
rounds = 6
warm_up = "0s"
[axes]
size = [10, 1000, 100000]
[load]
url = "{base}/bytes/{size}"
connections = 4
requests = 200
[[variants]]
name = "one worker"
serve = {}
[[variants]]
name = "two workers"
serve = { flags = ["--workers", "2"] }
[[variants]]
name = "broken"
command = "echo '<script>nothing()</script>'; exit 1"
only = { size = 10 }
"#;

/// Runs a matrix and makes its page.
fn make_matrix(onrush: &Path, folder: &Path) -> Result<PathBuf, String> {
    let cannot = |error: std::io::Error| format!("cannot write into {}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(cannot)?;
    let (plan, result, report) = (folder.join("plan.toml"), folder.join("result.json"), folder.join("report.html"));
    std::fs::write(&plan, PLAN).map_err(cannot)?;
    let mut command = Command::new(onrush);
    command.args(["matrix", "-q", "--force", "-o"]).arg(&result).arg(&plan);
    let (code, _, told) = finish(command)?;
    if code != Some(112) {
        return Err(format!("the matrix ended with {code:?}, expected 112 for its broken variant:\n{told}"));
    }
    let mut command = Command::new(onrush);
    command.args(["table", "--format", "html", "--group-by", "size", "-o"]).arg(&report).arg(&result);
    match finish(command)? {
        (Some(0), ..) => Ok(report),
        (code, _, told) => Err(format!("the page of the matrix ended with {code:?}:\n{told}")),
    }
}

fn browser_command(browser: &Path, folder: &Path, look: &Look) -> Command {
    let mut command = Command::new(browser);
    // Root, as in containers, has no sandbox; the page is ours.
    command.args([
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--disable-background-networking",
    ]);
    command.args(["--no-first-run", "--enable-logging=stderr", "--v=0"]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command.arg(format!("--blink-settings=preferredColorScheme={}", if look.dark { 0 } else { 1 }));
    command
}

/// Leaves a picture of the page. A window has a smallest width; a frame inside it has none.
fn picture(browser: &Path, folder: &Path, report: &Path, look: &Look) -> Result<(), String> {
    let name =
        report.parent().and_then(Path::file_name).map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let height = if look.width < 500 { 9000 } else { 5200 };
    let frame = folder.join("frame.html");
    let html = format!(
        "<!doctype html><style>body{{margin:0}}iframe{{border:0;width:{}px;height:{height}px}}</style><iframe \
         src=\"{}\"></iframe>",
        look.width,
        report.display()
    );
    std::fs::write(&frame, html).map_err(|error| format!("cannot write {}: {error}", frame.display()))?;
    let mut command = browser_command(browser, folder, look);
    command.arg(format!("--window-size={},{height}", look.width.max(500)));
    command.arg(format!("--screenshot={}", folder.join(format!("{name}-{}.png", look.name)).display()));
    command.arg(format!("file://{}", frame.display()));
    match finish(command)? {
        (Some(0), ..) => Ok(()),
        (code, _, told) => Err(format!("{} ended with {code:?}:\n{told}", browser.display())),
    }
}

/// Opens the page in a frame, lets `probe.js` look at it, and returns what is wrong.
fn probe(
    browser: &Path,
    folder: &Path,
    report: &Path,
    look: &Look,
    charts: usize,
    axe: Option<&str>,
) -> Result<Vec<String>, String> {
    let page = std::fs::read_to_string(report).map_err(|error| format!("cannot read {}: {error}", report.display()))?;
    let input = json!({ "page": page, "width": look.width, "dark": look.dark, "charts": charts, "axe": axe });
    let (found, told) = ask(browser, folder, look, &input, include_str!("probe.js"), true)?;
    let mut problems: Vec<String> =
        found.as_array().into_iter().flatten().map(|text| text.as_str().unwrap_or_default().to_owned()).collect();
    problems
        .extend(told.lines().filter(|line| line.contains("CONSOLE")).map(|line| format!("the console says {line}")));
    Ok(problems)
}

/// Lets a script look at its `input` in the browser: what it found, and what the browser said. Virtual time waits for
/// all that the script waits for, and measures nothing.
fn ask(
    browser: &Path,
    folder: &Path,
    look: &Look,
    input: &Value,
    script: &str,
    is_virtual: bool,
) -> Result<(Value, String), String> {
    let html = format!(
        "<!doctype html><meta charset=\"utf-8\"><body><script>const input = {};\n{script}</script>",
        input.to_string().replace('<', "\\u003c"),
    );
    let harness = folder.join("probe.html");
    std::fs::write(&harness, html).map_err(|error| format!("cannot write {}: {error}", harness.display()))?;
    let mut command = browser_command(browser, folder, look);
    command.args(is_virtual.then_some("--virtual-time-budget=5000"));
    command.args(["--dump-dom", "--window-size=1280,1000"]);
    command.arg(format!("file://{}", harness.display()));
    let (_, dom, told) = finish(command)?;
    let found = dom.split("FOUND:").nth(1).and_then(|rest| rest.split(":END").next());
    let found = found.ok_or_else(|| format!("the probe did not come to its end:\n{dom}\n{told}"))?;
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let found = serde_json::from_str(&found).map_err(|error| format!("the probe said {found}: {error}"))?;
    Ok((found, told))
}

/// Prints how large the report of an hour is, and how fast it answers.
fn time_an_hour(browser: &Path, folder: &Path) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["run", "-q", "--release", "-p", "onrush-report", "--example", "hour"]).arg(folder.join("hour"));
    // Two minutes where it is built first.
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let [out, told] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    if !output.status.success() {
        return Err(format!("the report of an hour cannot be made:\n{told}"));
    }
    print!("{out}");
    let path = folder.join("hour/report.html");
    let page = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let (figures, _) = ask(browser, folder, &LOOKS[0], &json!({ "page": page }), include_str!("timings.js"), false)?;
    println!("{figures:#}");
    Ok(())
}

/// The source of axe-core; none, and said so, where there is no npm.
fn axe(folder: &Path) -> Result<Option<String>, String> {
    if let Some(program) = crate::npm::missing() {
        println!("axe-core is left out: {program} is not installed");
        return Ok(None);
    }
    let package = r#"{ "private": true, "dependencies": { "axe-core": "4.14.1" } }"#;
    let folder = folder.join("axe");
    crate::npm::install(&folder, &[("package.json", package)], "axe-core")?;
    let path = folder.join("node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(&path).map(Some).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Runs a command to its end: exit code, standard output, standard error.
fn finish(mut command: Command) -> Result<(Option<i32>, String, String), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let cannot = |error: std::io::Error| format!("cannot run {program}: {error}");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(cannot)?;
    let drain = |from: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            from.map(|mut from| from.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = drain(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let err = drain(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let end = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().map_err(cannot)? {
            Some(status) => break status,
            None if Instant::now() > end => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{program} hangs"));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let read = |thread: std::thread::JoinHandle<String>| thread.join().unwrap_or_default();
    Ok((status.code(), read(out), read(err)))
}
