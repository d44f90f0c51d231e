//! `cargo xtask tidy`: the rules of ARCHITECTURE.md and CONTRIBUTING.md that can be read off the source, kept by a
//! tool.
//!
//! It reads the files that git knows, parses them with syn, and tells what breaks a rule: what, where, found, allowed,
//! what to do. Exceptions stand in [`ALLOW_LIST`], which may only shrink. Nothing is compiled, so it runs before
//! everything else.

mod allow;
mod finding;
mod graph;
mod imports;
mod modules;
mod rules;
mod workspace;

use std::fmt::Write as _;
use std::path::Path;

use allow::AllowList;
use rules::Circles;
use workspace::Workspace;

/// Where exceptions are listed, from the root of the repository.
pub const ALLOW_LIST: &str = allow::PATH;

/// What it is told to do.
const USAGE: &str = "usage: cargo xtask tidy [--all] [--shrink] [TEXT…]

--all     tells what the allow-list allows, too
--shrink  takes out of the allow-list what is no longer needed
TEXT      tells only findings that contain it: a crate's folder, a rule, a file";

/// Looks at the repository at `root` and returns what was found, for people; the second part says whether that is an
/// error.
///
/// # Errors
/// When arguments, the allow-list or a file cannot be read.
pub fn run(root: &Path, arguments: &[String]) -> Result<(String, bool), String> {
    let (flags, texts): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|word| word.starts_with("--"));
    if let Some(unknown) = flags.iter().find(|flag| !["--all", "--shrink"].contains(&flag.as_str())) {
        return Err(format!("found {unknown}\n{USAGE}"));
    }
    let given = |flag: &str| flags.iter().any(|given| *given == flag);
    let workspace = Workspace::read(root)?;
    let circles = Circles::of(&workspace);
    let findings = rules::findings(&workspace, &circles);
    let path = root.join(allow::PATH);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", allow::PATH))?;
    let mut list = AllowList::parse(&text)?;
    if given("--shrink") {
        list = list.shrunk(&findings);
        std::fs::write(&path, list.render()).map_err(|e| format!("{}: {e}", allow::PATH))?;
    }
    let (broken, stale) = list.apply(findings.clone());
    let mut report = String::new();
    for finding in if given("--all") { &findings } else { &broken } {
        let text = finding.to_string();
        if texts.is_empty() || texts.iter().any(|wanted| text.contains(wanted.as_str())) {
            let _ = writeln!(report, "{text}");
        }
    }
    stale.iter().for_each(|text| report.push_str(&format!("{text}\n")));
    report.push_str(&figures(&workspace, &circles));
    let _ = writeln!(report, "{} findings, {} allowed, {} entries to take away", broken.len(), list.len(), stale.len());
    Ok((report, !broken.is_empty() || !stale.is_empty()))
}

/// The figures of each crate.
fn figures(workspace: &Workspace, circles: &Circles) -> String {
    let mut table = format!(
        "{:<10}{:>7}{:>16}{:>20}{:>20}\n",
        "crate", "files", "largest circle", "folders in circles", "names used twice"
    );
    for (package, graph) in workspace.packages.iter().zip(&circles.of) {
        let largest = graph.files.first().map_or(0, Vec::len);
        let folders: usize = graph.rooms.iter().map(Vec::len).sum();
        let names = rules::duplicates(package).len();
        let _ =
            writeln!(table, "{:<10}{:>7}{largest:>16}{folders:>20}{names:>20}", package.name, package.sources.len());
    }
    table
}
