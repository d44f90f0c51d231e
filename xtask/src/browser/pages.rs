//! The pages that are looked at: of real runs, made here, small.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::look::ShownPage;
use super::program::finish;

/// Requests of two kinds, some slow, some that fail, and metrics of the script's own.
pub const SCRIPT: &str = include_str!("shop.js");

/// All of them.
pub fn make(onrush: &Path, folder: &Path) -> Result<Vec<ShownPage>, String> {
    let page = |name, path, charts, tables| ShownPage { name, path, charts, tables };
    Ok(vec![
        page("shop", make_report(onrush, folder, "shop")?, 14, 3),
        page("collab", make_report(onrush, folder, "collab")?, 8, 3),
        page("matrix", make_matrix(onrush, &folder.join("matrix"))?, 3, 3),
        page("history", make_history(onrush, &folder.join("history"))?, 3, 1),
    ])
}

/// Six fast runs and six slow ones, so that there is a change.
fn make_history(onrush: &Path, folder: &Path) -> Result<PathBuf, String> {
    let cannot = |error: std::io::Error| format!("cannot write into {}: {error}", folder.display());
    let _none_before = std::fs::remove_dir_all(folder);
    let (runs, report) = (folder.join("runs"), folder.join("report.html"));
    std::fs::create_dir_all(&runs).map_err(cannot)?;
    let script = folder.join("delays.js");
    let source = "import http from 'k6/http'; export const options = { vus: 4, iterations: 200 };\n\
                  export default function () { http.get(`${__ENV.TARGET}/delay/${__ENV.DELAY}`); }\n";
    std::fs::write(&script, source).map_err(cannot)?;
    for run in 0..12 {
        let mut command = Command::new(onrush);
        // On a busy machine they count all the same.
        command.args(["run", "-q", "--accept-late", "--serve", "--save"]).arg(runs.join(format!("run-{run:02}")));
        command.args(["-e", if run < 6 { "DELAY=0.002" } else { "DELAY=0.02" }]).arg(&script);
        let (code, _, told) = finish(command)?;
        if code != Some(0) {
            return Err(format!("run {run} of the history ended with {code:?}:\n{told}"));
        }
    }
    let mut command = Command::new(onrush);
    command.arg("history").arg(&runs).arg("-o").arg(&report);
    match finish(command)? {
        (Some(0), out, _) if out.contains("worse since") => Ok(report),
        (code, out, told) => Err(format!("the history ended with {code:?}, or without a change:\n{out}{told}")),
    }
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
