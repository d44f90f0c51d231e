//! How pages are looked at, whatever the browser: the looks, what `probe.js` is told, and what it found.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A way to look at a page.
pub struct Look {
    /// As pictures are called.
    pub name: &'static str,
    /// In pixels.
    pub width: u32,
    /// Whether the reader's system is dark.
    pub dark: bool,
    /// By the rules for print.
    pub print: bool,
}

/// A4 with the usual margins is 718 pixels of CSS wide.
pub const LOOKS: [Look; 4] = [
    Look { name: "day", width: 1240, dark: false, print: false },
    Look { name: "night", width: 1240, dark: true, print: false },
    Look { name: "phone", width: 360, dark: false, print: false },
    Look { name: "paper", width: 718, dark: false, print: true },
];

/// A page, and what there has to be on it.
pub struct ShownPage {
    /// As pictures are called.
    pub name: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Charts, at least.
    pub charts: usize,
    /// Tables, at least.
    pub tables: usize,
}

/// Says how it went, and names each problem.
pub fn told(name: &str, look: &Look, found: Vec<String>) -> Vec<String> {
    println!("{name} by {}: {}", look.name, if found.is_empty() { "fine" } else { "NOT FINE" });
    found.into_iter().map(|problem| format!("{name} by {}: {problem}", look.name)).collect()
}

/// What `probe.js` is told.
pub fn probe_input(page: &ShownPage, look: &Look, axe: Option<&str>) -> Result<Value, String> {
    let ShownPage { path, charts, tables, .. } = page;
    let html = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let Look { width, dark, print, .. } = *look;
    Ok(json!({
        "page": html, "width": width, "dark": dark, "print": print, "charts": charts, "tables": tables, "axe": axe
    }))
}

/// Texts of a list.
pub fn texts(found: &Value) -> Vec<String> {
    found.as_array().into_iter().flatten().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
}

/// Writes a page that has a script look at its `input`.
pub fn harness(folder: &Path, input: &Value, script: &str) -> Result<PathBuf, String> {
    let html = format!(
        "<!doctype html><meta charset=\"utf-8\"><body><script>const input = {};\n{script}</script>",
        input.to_string().replace('<', "\\u003c"),
    );
    let path = folder.join("probe.html");
    std::fs::write(&path, html).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

/// What a script found, in the text of its page; none as long as it looks.
pub fn found_in(text: &str) -> Option<&str> {
    text.split("FOUND:").nth(1)?.split(":END").next()
}
