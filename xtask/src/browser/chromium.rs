//! Chromium without a window: pictures, prints, and what a script finds in a page.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::look::{Look, ShownPage, found_in, harness, probe_input, texts};
use super::program::finish;

/// Names that the browser goes by.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Where it is.
pub fn find() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Ok(PathBuf::from(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = candidates.into_iter().find(|candidate| candidate.is_file());
    found.ok_or_else(|| "no browser found: install chromium, or name its binary in $CHROMIUM".to_owned())
}

/// A command that opens something without a window.
pub fn browser_command(browser: &Path, folder: &Path, look: &Look) -> Command {
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

/// Leaves a picture of the page, or its prints. A window has a smallest width; a frame inside it has none.
pub fn picture(browser: &Path, folder: &Path, page: &ShownPage, look: &Look) -> Result<(), String> {
    let mut command = browser_command(browser, folder, look);
    if look.print {
        command.arg("--no-pdf-header-footer");
        command.arg(format!("--print-to-pdf={}", folder.join(format!("{}.pdf", page.name)).display()));
        command.arg(format!("file://{}", page.path.display()));
    } else {
        let height = if look.width < 500 { 9000 } else { 5200 };
        let frame = folder.join("frame.html");
        let html = format!(
            "<!doctype html><style>body{{margin:0}}iframe{{border:0;width:{}px;height:{height}px}}</style><iframe \
             src=\"{}\"></iframe>",
            look.width,
            page.path.display()
        );
        std::fs::write(&frame, html).map_err(|error| format!("cannot write {}: {error}", frame.display()))?;
        command.arg(format!("--window-size={},{height}", look.width.max(500)));
        let picture = folder.join(format!("{}-{}.png", page.name, look.name));
        command.arg(format!("--screenshot={}", picture.display()));
        command.arg(format!("file://{}", frame.display()));
    }
    match finish(command)? {
        (Some(0), ..) => Ok(()),
        (code, _, told) => Err(format!("{} ended with {code:?}:\n{told}", browser.display())),
    }
}

/// Opens the page in a frame, lets `probe.js` look at it, and returns what is wrong.
pub fn probe(
    browser: &Path,
    folder: &Path,
    page: &ShownPage,
    look: &Look,
    axe: Option<&str>,
) -> Result<Vec<String>, String> {
    let input = probe_input(page, look, axe)?;
    let (found, told) = ask(browser, folder, look, &input, include_str!("probe.js"), true)?;
    let mut problems = texts(&found);
    problems
        .extend(told.lines().filter(|line| line.contains("CONSOLE")).map(|line| format!("the console says {line}")));
    Ok(problems)
}

/// Lets a script look at its `input` in the browser: what it found, and what the browser said. Virtual time waits for
/// all that the script waits for, and measures nothing.
pub fn ask(
    browser: &Path,
    folder: &Path,
    look: &Look,
    input: &Value,
    script: &str,
    is_virtual: bool,
) -> Result<(Value, String), String> {
    let harness = harness(folder, input, script)?;
    let mut command = browser_command(browser, folder, look);
    command.args(is_virtual.then_some("--virtual-time-budget=5000"));
    command.args(["--dump-dom", "--window-size=1280,1000"]);
    command.arg(format!("file://{}", harness.display()));
    let (_, dom, told) = finish(command)?;
    let found = found_in(&dom).ok_or_else(|| format!("the probe did not come to its end:\n{dom}\n{told}"))?;
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let found = serde_json::from_str(&found).map_err(|error| format!("the probe said {found}: {error}"))?;
    Ok((found, told))
}
