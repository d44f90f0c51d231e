//! Texts within GitHub-flavoured Markdown: names from outside neither end a cell, nor begin markup, nor call anybody.
//!
//! `code` is for texts of a script or a server: within a code span nothing is a link or a mention. `escape` is for our
//! own sentences. Both keep a line a line.

use crate::visible;

/// A code span that may hold backticks, and does not end a cell.
pub fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let text = visible(&text).replace('|', "\\|");
    match text.contains('`') {
        // A run of backticks inside must be shorter than those around it.
        true => {
            let fence = "`".repeat(longest_run(&text) + 1);
            format!("{fence} {text} {fence}")
        }
        false => format!("`{text}`"),
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text that Markdown takes literally; underscores within words are taken so anyway.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '`' | '<' | '>' | '|' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(if c == '\n' || c == '\r' { ' ' } else { c });
    }
    out
}

/// A table: titles, which columns are figures, and rows of finished cells.
pub fn table(titles: &[&str], figures: &[bool], rows: &[Vec<String>]) -> Vec<String> {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let rule: Vec<&str> = figures.iter().map(|is_figure| if *is_figure { "--:" } else { "---" }).collect();
    let mut lines = vec![format!("| {} |", titles.join(" | ")), format!("|{}|", rule.join("|"))];
    lines.extend(rows.iter().map(|row| line(row)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_table() {
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("a`b\nc"), "`` a`b c ``");
        assert_eq!(code("a``b"), "``` a``b ```");
        assert_eq!(code("a\u{1b}b"), "`a\\x1bb`");
        assert_eq!(escape("<b>*x*"), "\\<b\\>\\*x\\*");
    }
}
