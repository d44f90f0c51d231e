//! Files, functions and lines that are too long, and files that do not say what they are for.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::finding::{Finding, Rule};
use crate::workspace::{Package, Source, Workspace};

const FILE: usize = 500;
const FUNCTION: usize = 60;
const LINE: usize = 120;
/// Characters of the first paragraph of a file's header: less says nothing.
const HEADER: usize = 20;

pub fn findings(workspace: &Workspace) -> Vec<Finding> {
    let mut findings: Vec<Finding> = workspace.sources().flat_map(of_source).collect();
    findings.extend(workspace.packages.iter().filter_map(lines));
    findings
}

fn of_source(source: &Source) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [file(source), header(source)].into_iter().flatten().collect();
    let mut functions = Functions { source, findings: Vec::new() };
    functions.visit_file(&source.syntax);
    findings.append(&mut functions.findings);
    findings
}

fn file(source: &Source) -> Option<Finding> {
    let found = source.text.lines().count();
    (found > FILE).then(|| Finding {
        rule: Rule::FileLength,
        subject: source.path.clone(),
        place: format!("{}:{found}", source.path),
        found,
        allowed: FILE,
        what: format!("a file of {found} lines"),
        help: "split it by what its parts are for".to_owned(),
    })
}

/// One finding a crate, with every line that is too long.
fn lines(package: &Package) -> Option<Finding> {
    let mut found = 0;
    let mut places = Vec::new();
    for source in &package.sources {
        let long = (1..).zip(source.text.lines()).filter(|(_, line)| line.chars().count() > LINE);
        let numbers: Vec<String> = long.map(|(number, _)| number.to_string()).collect();
        if !numbers.is_empty() {
            found += numbers.len();
            places.push(format!("{}:{}", source.path, numbers.join(":")));
        }
    }
    Some(Finding {
        rule: Rule::LineLength,
        subject: package.folder.clone(),
        place: places.first()?.clone(),
        found,
        allowed: 0,
        what: format!("lines over {LINE} columns: {}", places.join(" ")),
        help: "wrap comments, break strings with a backslash at the end of the line".to_owned(),
    })
}

fn header(source: &Source) -> Option<Finding> {
    let said: usize =
        source.text.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.trim().chars().count()).sum();
    (said < HEADER).then(|| Finding {
        rule: Rule::Header,
        subject: source.path.clone(),
        place: format!("{}:1", source.path),
        found: said,
        allowed: HEADER,
        what: "no header says what the file is for".to_owned(),
        help: "begin it with `//!`: what it is for, what it refuses, the invariant that matters".to_owned(),
    })
}

/// Visits every function of a file.
struct Functions<'a> {
    source: &'a Source,
    findings: Vec<Finding>,
}

impl Functions<'_> {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (first, last) = (signature.span().start().line, block.span().end().line);
        let found = last + 1 - first;
        if found > FUNCTION {
            let path = &self.source.path;
            self.findings.push(Finding {
                rule: Rule::FunctionLength,
                subject: format!("{path}/{}", signature.ident),
                place: format!("{path}:{first}"),
                found,
                allowed: FUNCTION,
                what: format!("the function `{}` has {found} lines", signature.ident),
                help: "give its steps names of their own".to_owned(),
            });
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: String) -> Vec<String> {
        let source = Source::parse("crates/a/src/b.rs", "crates/a", text).unwrap();
        of_source(&source).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_short_file_with_a_header_is_fine() {
        assert_eq!(of("//! What this file is for, in a sentence.\nfn a() {}\n".into()), Vec::<String>::new());
    }

    #[test]
    fn each_length_has_its_limit() {
        let head = "//! What this file is for, in a sentence.\n";
        let function = |lines: usize| format!("{head}fn a() {{{}}}\n", "\n".repeat(lines - 1));
        assert!(of(function(60)).is_empty());
        assert_eq!(
            of(function(61)),
            ["crates/a/src/b.rs:2: the function `a` has 61 lines [function-length crates/a/src/b.rs/a]\n    \
              found 61, allowed 60\n    give its steps names of their own"]
        );
        assert!(of(format!("{head}{}", "\n".repeat(499))).is_empty());
        assert!(of(format!("{head}{}", "\n".repeat(500)))[0].starts_with("crates/a/src/b.rs:501: a file of 501 lines"));
    }

    #[test]
    fn lines_of_a_crate_are_told_together() {
        let text = |columns: usize| format!("//{}\n\n//{0}\n", "ä".repeat(columns - 2));
        let package = |columns| Package {
            name: "a".into(),
            folder: "crates/a".into(),
            sources: vec![Source::parse("crates/a/src/b.rs", "crates/a", text(columns)).unwrap()],
        };
        assert_eq!(lines(&package(120)), None);
        let found = lines(&package(121)).unwrap();
        assert_eq!((found.found, found.subject.as_str()), (2, "crates/a"));
        assert_eq!(found.what, "lines over 120 columns: crates/a/src/b.rs:1:3");
    }

    #[test]
    fn a_file_says_what_it_is_for() {
        assert!(of("fn a() {}\n".into())[0].contains("no header says what the file is for"));
        assert!(of("//! Types.\nfn a() {}\n".into())[0].contains("found 6, allowed 20"));
    }
}
