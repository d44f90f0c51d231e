//! `cargo xtask browser`: reports of real runs, opened in a real browser and looked at.
//!
//! Not part of `cargo test`, because it needs chromium. Two runs are saved (requests to the target, and the example
//! of people in one project with message delays), their reports made, a small matrix and a history with their pages
//! (and in `live.rs` the page of a run that goes on); each is opened headless in a wide window by day, by night, as
//! narrow as a phone, and by the rules for print. `probe.js` says what is wrong: script errors, anything asked of a
//! network, charts that are not drawn, labels on top of each other, a page wider than the screen, values under the
//! pointer that do not show, tables that do not follow a chosen stretch or pivot, or that paper would cut; with npm,
//! axe-core says what is hard to read for whom. Where Firefox is, it is asked the same. The report of an hour, made
//! up, says how large it is and how fast. Pictures and prints are left in target/browser, to be looked at by a person:
//! no program knows whether a chart is good.

mod chromium;
mod firefox;
mod live;
mod look;
mod pages;
mod program;

use std::path::Path;
use std::process::Command;

use chromium::{ask, find, picture, probe};
use look::{LOOKS, ShownPage, told};
use serde_json::json;

/// Makes the reports and looks at them.
pub fn run(onrush: &Path) -> Result<(), String> {
    let browser = find()?;
    let folder = crate::parity::workspace()?.join("target/browser");
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let axe = axe(&folder)?;
    let mut problems = Vec::new();
    let pages = pages::make(onrush, &folder)?;
    for page in &pages {
        for look in &LOOKS {
            picture(&browser, &folder, page, look)?;
            let found = probe(&browser, &folder, page, look, axe.as_deref())?;
            problems.extend(told(page.name, look, found));
        }
    }
    problems.extend(live::look(&browser, &folder, onrush)?);
    problems.extend(firefox::look(&folder, &pages, axe.as_deref())?);
    canary(&browser, &folder, axe.as_deref())?;
    problems.extend(time_an_hour(&browser, &folder).err());
    println!("pictures are in {}", folder.display());
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Looks at a spoiled page: a probe that finds nothing there would find nothing anywhere.
fn canary(browser: &Path, folder: &Path, axe: Option<&str>) -> Result<(), String> {
    let page = folder.join("shop/report.html");
    let page = std::fs::read_to_string(&page).map_err(|error| format!("cannot read {}: {error}", page.display()))?;
    let spoilt = format!(
        "<img src=\"http://127.0.0.1:9/x.png\"><p style=\"width:3000px\">wide</p><script>nothing()</script>\
         <div class=\"table\"><table><caption>wide</caption><tr><td class=\"n\">{}</td></tr></table></div></main>",
        "9".repeat(400)
    );
    let spoilt = page.replacen("</main>", &spoilt, 1).replacen(
        "<path class=\"line c0\" d=\"M",
        "<path class=\"line c0\" d=\"\" x=\"",
        30,
    );
    let path = folder.join("spoilt.html");
    std::fs::write(&path, spoilt).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let spoilt = ShownPage { name: "spoilt", path, charts: 0, tables: 3 };
    let mut found = probe(browser, folder, &spoilt, &LOOKS[0], axe)?;
    found.extend(probe(browser, folder, &spoilt, &LOOKS[3], None)?);
    let expected = [
        "nothing is not defined",
        "asked for http://127.0.0.1:9",
        "wide on a screen of 1240",
        "lines are drawn",
        "wide on a screen of 718",
        "is cut on paper",
    ];
    let of_axe = axe.map(|_| "axe: critical image-alt");
    let missed: Vec<&str> =
        expected.into_iter().chain(of_axe).filter(|text| !found.iter().any(|problem| problem.contains(text))).collect();
    if missed.is_empty() {
        Ok(())
    } else {
        Err(format!("the probe misses what is wrong with a spoilt page: {missed:?}"))
    }
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
