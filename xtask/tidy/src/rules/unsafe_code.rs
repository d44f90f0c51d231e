//! Each file with unsafe code has a row in `docs/design/unsafe.md`: how many blocks, what they do, what covers them.
//!
//! A row names tests and files in backticks: `file.rs` or `name_of_a_test`. What it names must exist, and the count
//! must be that of the file, so that a new block needs a look at its row.

use proc_macro2::Delimiter;

use super::cover::Known;
use crate::finding::{Finding, Rule};
use crate::workspace::{Place, Source, Token, Workspace};

/// The page, from the root of the repository.
const PAGE: &str = "docs/design/unsafe.md";

/// A row of the page's table.
struct Row<'p> {
    line: usize,
    file: &'p str,
    blocks: usize,
    covered_by: &'p str,
}

pub fn findings(workspace: &Workspace) -> Vec<Finding> {
    let page = std::fs::read_to_string(workspace.root.join(PAGE)).unwrap_or_default();
    let rows: Vec<Row<'_>> = page.lines().enumerate().filter_map(|(at, line)| row(at + 1, line)).collect();
    let product = workspace.sources().filter(|source| source.place == Place::Product && !source.is_test);
    let counted = product.map(|source| (source, blocks(source))).filter(|(_, count)| *count > 0);
    let counted: Vec<(&Source, usize)> = counted.filter(|(source, _)| source.path.starts_with("crates/")).collect();
    let mut findings = Vec::new();
    for (source, count) in &counted {
        let written = rows.iter().find(|row| row.file == source.path).map_or(0, |row| row.blocks);
        if written != *count {
            findings.push(finding(
                &source.path,
                1,
                Counts { found: *count, written },
                "blocks of unsafe code, and the page says another number",
            ));
        }
    }
    let known = Known::of(workspace);
    for row in &rows {
        if !counted.iter().any(|(source, _)| source.path == row.file) {
            findings.push(finding(
                row.file,
                row.line,
                Counts { found: 0, written: row.blocks },
                "the page has a row for it, and it has no unsafe code",
            ));
        }
        for text in known.problems(row.covered_by) {
            findings.push(finding(row.file, row.line, Counts { found: 0, written: row.blocks }, &text));
        }
    }
    findings
}

/// A count of a file's blocks, and that of its row.
struct Counts {
    found: usize,
    written: usize,
}

fn finding(file: &str, line: usize, counts: Counts, what: &str) -> Finding {
    let Counts { found, written: allowed } = counts;
    Finding {
        rule: Rule::UnsafeCode,
        subject: file.to_owned(),
        place: if found == 0 { format!("{PAGE}:{line}") } else { format!("{file}:{line}") },
        found,
        allowed,
        what: what.to_owned(),
        help: format!("write the row of {PAGE} anew: how many, what they do, which test or suite covers them"),
    }
}

/// `| file | blocks | what | covered by |`; none for any other line.
fn row(line: usize, text: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = text.strip_prefix('|')?.split('|').map(str::trim).collect();
    let [file, blocks, _, covered_by, ..] = cells[..] else { return None };
    let file = file.trim_matches('`');
    Some(Row { line, file, blocks: blocks.parse().ok()?, covered_by })
}

/// `unsafe` before a block, an `impl` or `extern`, outside of tests.
fn blocks(source: &Source) -> usize {
    let (mut count, mut is_after) = (0, false);
    source.each_token(&mut |token| {
        count += usize::from(
            is_after
                && match &token {
                    Token::Open(Delimiter::Brace) => true,
                    Token::Ident(ident) => *ident == "impl" || *ident == "extern",
                    _ => false,
                },
        );
        is_after = matches!(&token, Token::Ident(ident) if *ident == "unsafe");
    });
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_counted_and_tests_are_not() {
        let text = "unsafe impl A for B {} fn a() { unsafe { b() } } unsafe fn c() {} unsafe extern \"C\" { fn d(); }\n\
                    #[cfg(test)] mod tests { fn e() { unsafe { b() } } }";
        let source = Source::parse("crates/a/src/lib.rs", "crates/a", text.to_owned()).unwrap();
        assert_eq!(blocks(&source), 3);
    }

    #[test]
    fn rows_are_read() {
        let found = row(7, "| `crates/a/src/b.rs` | 12 | calls | `a_test` |").unwrap();
        assert_eq!((found.line, found.file, found.blocks, found.covered_by), (7, "crates/a/src/b.rs", 12, "`a_test`"));
        assert!(row(1, "| file | blocks | what | covered by |").is_none());
        assert!(row(1, "text").is_none());
    }
}
