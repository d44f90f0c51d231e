//! Links between the Markdown files of the repository: the file exists, and so does the heading behind `#`.
//!
//! Pages of docs/ link only to docs/, because the book is built of nothing else; they name other files as
//! `path/in/repository`. Links to hosts are not followed: the check needs no network. ARCHITECTURE.md names files as
//! code, so those must exist too.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The page that says where to find things in the code.
const MAP: &str = "ARCHITECTURE.md";

/// What is wrong with links and pages, a line each.
pub fn problems(root: &Path) -> Result<Vec<String>, String> {
    let pages = pages(root)?;
    let mut problems = Vec::new();
    for page in &pages {
        let text = read(root, page)?;
        for link in links(&text) {
            if let Some(problem) = problem(root, page, link)? {
                problems.push(format!("{}: {link}: {problem}", page.display()));
            }
        }
    }
    let map = read(root, Path::new(MAP))?;
    problems.extend(lost_files(root, &map).map(|path| format!("{MAP}: `{path}`: no such file")));
    let summary = read(root, Path::new("docs/SUMMARY.md"))?;
    let listed: BTreeSet<PathBuf> = links(&summary).into_iter().map(|link| Path::new("docs").join(link)).collect();
    let lost = pages.iter().filter(|page| page.starts_with("docs") && !page.ends_with("SUMMARY.md"));
    let lost = lost.filter(|page| !listed.contains(*page));
    problems.extend(lost.map(|page| format!("{}: docs/SUMMARY.md does not list this page", page.display())));
    Ok(problems)
}

/// The Markdown files of the repository, as paths from its root.
fn pages(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut pages = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let cannot = |error: std::io::Error| format!("cannot list {}: {error}", folder.display());
        for entry in std::fs::read_dir(&folder).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let (path, name) = (entry.path(), entry.file_name());
            let is_ours = name != "target" && !name.to_string_lossy().starts_with('.');
            match entry.file_type().map_err(cannot)?.is_dir() {
                true if is_ours => folders.push(path),
                false if path.extension().is_some_and(|extension| extension == "md") => {
                    pages.extend(path.strip_prefix(root).map(Path::to_owned));
                }
                _ => {}
            }
        }
    }
    pages.sort();
    Ok(pages)
}

fn read(root: &Path, page: &Path) -> Result<String, String> {
    std::fs::read_to_string(root.join(page)).map_err(|error| format!("cannot read {}: {error}", page.display()))
}

/// What is wrong with one link, if anything.
fn problem(root: &Path, page: &Path, link: &str) -> Result<Option<String>, String> {
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let folder = page.parent().unwrap_or(Path::new(""));
    let target = if path.is_empty() { Some(page.to_owned()) } else { normal(&folder.join(path)) };
    let Some(target) = target.filter(|target| root.join(target).exists()) else {
        return Ok(Some("no such file".to_owned()));
    };
    if page.starts_with("docs") && !target.starts_with("docs") {
        return Ok(Some("leads out of the book: write the path as code instead".to_owned()));
    }
    if heading.is_empty() || target.extension().is_none_or(|extension| extension != "md") {
        return Ok(None);
    }
    let known = anchors(&read(root, &target)?).contains(heading);
    Ok((!known).then(|| format!("{} has no such heading", target.display())))
}

/// The path without `.` and `..`; none when it leaves the repository.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => normal.pop().then_some(())?,
            other => normal.push(other),
        }
    }
    Some(normal)
}

/// Lines outside of fenced code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Targets of links that lead to files, outside of code.
fn links(text: &str) -> Vec<&str> {
    let spoken = prose(text).flat_map(|line| line.split('`').step_by(2));
    // A link whose text is code has its target in the next piece.
    let ends = spoken.flat_map(|piece| piece.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
    ends.filter(|link| !link.contains("://") && !link.starts_with("mailto:")).collect()
}

/// The ids that headings get, as mdbook and the usual hosts make them.
fn anchors(text: &str) -> BTreeSet<String> {
    prose(text).filter_map(|line| line.strip_prefix('#')).map(|heading| slug(heading.trim_start_matches('#'))).collect()
}

/// Paths that a page names as code and that do not exist: those that begin with a crate or a folder of the repository.
fn lost_files<'p>(root: &'p Path, page: &'p str) -> impl Iterator<Item = &'p str> {
    let spans = prose(page).flat_map(|line| line.split('`').skip(1).step_by(2));
    let paths = spans.filter(|span| span.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c)));
    paths.filter(move |path| {
        let Some((first, _)) = path.split_once('/') else { return false };
        let place = [root.join("crates"), root.to_owned()].into_iter().find(|place| place.join(first).is_dir());
        place.is_some_and(|place| !place.join(path).exists())
    })
}

fn slug(heading: &str) -> String {
    let letters = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    letters.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_of_the_repository_is_dead() {
        let root = crate::parity::workspace().unwrap();
        assert_eq!(problems(&root).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn finds_links_outside_of_code() {
        let text =
            "A [page](a.md#b), [`code`](c.md), `[no](x.md)`, [host](https://h/).\n```\n[no](y.md)\n```\n[two](../d.md)";
        assert_eq!(links(text), ["a.md#b", "c.md", "../d.md"]);
    }

    #[test]
    fn tells_what_is_wrong_with_a_link() {
        let root = crate::parity::workspace().unwrap();
        let told = |link| problem(&root, Path::new("docs/README.md"), link).unwrap().unwrap_or_default();
        assert_eq!(told("guides/quick.md"), "");
        assert_eq!(told("guides/nothing.md"), "no such file");
        assert_eq!(told("../../../etc/passwd"), "no such file");
        assert_eq!(told("../README.md"), "leads out of the book: write the path as code instead");
        assert_eq!(told("guides/quick.md#nowhere"), "docs/guides/quick.md has no such heading");
    }

    #[test]
    fn finds_files_that_the_map_names_in_vain() {
        let root = crate::parity::workspace().unwrap();
        let map = "`wire/src/lib.rs`, `bench/`, `k6/http`, `wire/src/*.rs`, `wire/src/nothing.rs`, `xtask/gone/`";
        assert_eq!(lost_files(&root, map).collect::<Vec<_>>(), ["wire/src/nothing.rs", "xtask/gone/"]);
    }

    #[test]
    fn headings_become_ids() {
        assert_eq!(slug(" What a server says, `k6/http`"), "what-a-server-says-k6http");
    }
}
