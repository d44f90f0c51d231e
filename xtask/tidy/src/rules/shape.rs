//! What grows where no other rule looks: folders too full to be read at a glance, names that mean something else in
//! each crate, parameters packed into tuples, headers and doc comments that say nothing.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, Meta, Pat, Type};

use crate::finding::{Finding, Rule};
use crate::rules::names::type_names;
use crate::workspace::{Package, Source, Workspace};

/// Source files of a folder.
const FILES: usize = 20;
/// Crates that may define a type of one name.
const CRATES: usize = 3;
/// Files longer than this need a header of more than a line.
const LONG_FILE: usize = 100;
/// Words of a doc comment: fewer repeat the name.
const WORDS: usize = 3;

pub fn findings(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = folders(workspace.sources().map(|source| source.path.as_str()));
    findings.extend(spread(&workspace.packages));
    for package in &workspace.packages {
        findings.extend(thin_headers(package));
        findings.extend(in_package(package, Rule::ShortDoc, short_docs, "doc comments of fewer than three words", {
            "say what the reader cannot see: units, ranges, when it is absent; or take the comment away"
        }));
        findings.extend(in_package(package, Rule::TupleParameter, tuples, "parameters that are tuples", {
            "make the values parameters of their own, or a type with names"
        }));
    }
    findings
}

fn folders<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<Finding> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for (folder, _) in paths.filter_map(|path| path.rsplit_once('/')) {
        *counts.entry(folder).or_default() += 1;
    }
    let full = counts.into_iter().filter(|(_, found)| *found > FILES);
    let finding = |(folder, found): (&str, usize)| Finding {
        rule: Rule::FlatFolder,
        subject: folder.to_owned(),
        place: format!("{folder}:1"),
        found,
        allowed: FILES,
        what: format!("a folder of {found} source files"),
        help: "group them by what somebody looks for".to_owned(),
    };
    full.map(finding).collect()
}

/// Type names that stand in many crates.
fn spread(packages: &[Package]) -> Vec<Finding> {
    let mut crates = BTreeMap::<String, BTreeSet<&str>>::new();
    for package in packages.iter().filter(|package| package.folder.starts_with("crates/")) {
        for name in type_names(package).into_keys() {
            crates.entry(name).or_default().insert(&package.name);
        }
    }
    let wide = crates.into_iter().filter(|(_, crates)| crates.len() > CRATES);
    let finding = |(name, crates): (String, BTreeSet<&str>)| {
        let list: Vec<&str> = crates.into_iter().collect();
        Finding {
            rule: Rule::SpreadName,
            place: format!("crates/{}:1", list[0]),
            found: list.len(),
            allowed: CRATES,
            what: format!("`{name}` names a type in {} crates: {}", list.len(), list.join(" ")),
            help: "give each the word of its own crate".to_owned(),
            subject: name,
        }
    };
    wide.map(finding).collect()
}

fn thin_headers(package: &Package) -> Option<Finding> {
    let is_thin = |source: &&Source| {
        source.text.lines().count() > LONG_FILE
            && source.text.lines().take_while(|line| line.starts_with("//!")).count() == 1
    };
    let found: Vec<&Source> = package.sources.iter().filter(is_thin).collect();
    Some(Finding {
        rule: Rule::ThinHeader,
        subject: package.folder.clone(),
        place: format!("{}:1", found.first()?.path),
        found: found.len(),
        allowed: 0,
        what: format!("{} files of over {LONG_FILE} lines whose header is one line", found.len()),
        help: "say what the file is for, what it refuses, which invariant it keeps".to_owned(),
    })
}

/// One finding a crate, with the number of places that `of` sees.
fn in_package(
    package: &Package,
    rule: Rule,
    of: impl Fn(&Source) -> Vec<usize>,
    what: &str,
    help: &str,
) -> Option<Finding> {
    let places = package.sources.iter().flat_map(|source| of(source).into_iter().map(move |line| (source, line)));
    let places: Vec<(&Source, usize)> = places.collect();
    let (source, line) = places.first()?;
    Some(Finding {
        rule,
        subject: package.folder.clone(),
        place: format!("{}:{line}", source.path),
        found: places.len(),
        allowed: 0,
        what: format!("{} {what}", places.len()),
        help: help.to_owned(),
    })
}

/// Lines of doc comments of an item that have fewer than three words.
fn short_docs(source: &Source) -> Vec<usize> {
    let mut docs = Docs(Vec::new());
    docs.visit_file(&source.syntax);
    docs.0
}

struct Docs(Vec<usize>);

impl Docs {
    fn look(&mut self, attributes: &[Attribute]) {
        let texts: Vec<(String, usize)> = attributes.iter().filter_map(doc).collect();
        let words: usize = texts.iter().map(|(text, _)| text.split_whitespace().count()).sum();
        if let Some((_, line)) = texts.first()
            && words < WORDS
        {
            self.0.push(*line);
        }
    }
}

fn doc(attribute: &Attribute) -> Option<(String, usize)> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return None };
    let is_outer = matches!(attribute.style, syn::AttrStyle::Outer);
    (is_outer && pair.path.is_ident("doc")).then(|| (text.value(), text.span().start().line))
}

impl<'ast> Visit<'ast> for Docs {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        self.look(crate::modules::attributes(item));
        visit::visit_item(self, item);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.look(&field.attrs);
        visit::visit_field(self, field);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.look(&variant.attrs);
        visit::visit_variant(self, variant);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.look(&function.attrs);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.look(&function.attrs);
        visit::visit_trait_item_fn(self, function);
    }
}

/// Lines of functions with a parameter that is a tuple: they get round the limit of parameters.
fn tuples(source: &Source) -> Vec<usize> {
    let mut tuples = Tuples(Vec::new());
    tuples.visit_file(&source.syntax);
    tuples.0
}

struct Tuples(Vec<usize>);

impl<'ast> Visit<'ast> for Tuples {
    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        let is_tuple = |input: &FnArg| {
            let FnArg::Typed(typed) = input else { return false };
            matches!((&*typed.pat, &*typed.ty), (Pat::Tuple(_), Type::Tuple(_)))
        };
        let found = signature.inputs.iter().filter(|input| is_tuple(input)).count();
        self.0.extend(std::iter::repeat_n(signature.ident.span().start().line, found));
        visit::visit_signature(self, signature);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::parse("crates/a/src/b.rs", "crates/a", text.to_owned()).unwrap()
    }

    fn package(name: &str, text: &str) -> Package {
        let folder = format!("crates/{name}");
        let source = Source::parse(&format!("{folder}/src/b.rs"), &folder, text.to_owned()).unwrap();
        Package { name: name.to_owned(), folder, sources: vec![source] }
    }

    #[test]
    fn a_folder_may_have_twenty_files() {
        let paths: Vec<String> = (0..21).map(|n| format!("crates/a/src/f{n}.rs")).collect();
        let of = |count| folders(paths.iter().take(count).map(String::as_str));
        assert_eq!(of(20), []);
        assert_eq!(
            of(21)[0].to_string().lines().next(),
            Some("crates/a/src:1: a folder of 21 source files [flat-folder crates/a/src]")
        );
    }

    #[test]
    fn a_name_may_stand_in_three_crates() {
        let packages = ["a", "b", "c", "d"].map(|name| package(name, "//! x\nstruct State;\nstruct Own;"));
        assert_eq!(spread(&packages[..3]), []);
        let found = spread(&packages);
        assert_eq!(
            found.iter().map(|finding| (finding.subject.as_str(), finding.found)).collect::<Vec<_>>(),
            [("Own", 4), ("State", 4)]
        );
    }

    #[test]
    fn a_long_file_needs_more_than_a_line_of_header() {
        let of = |head: &str, lines| {
            thin_headers(&package("a", &format!("{head}{}", "\n".repeat(lines)))).map(|finding| finding.found)
        };
        assert_eq!((of("//! x\n", 99), of("//! x\n", 100), of("//! x\n//! y\n", 100)), (None, Some(1), None));
    }

    #[test]
    fn short_doc_comments_are_counted() {
        let text = "/// Its name.\nstruct A {\n/// Which.\na: u8,\n/// Bytes, with headers.\nb: u8,\n}\n\
                    /// Too\n/// short.\nenum E {}\nfn f() {}";
        assert_eq!(short_docs(&source(text)), [1, 3, 8]);
    }

    #[test]
    fn parameters_that_are_tuples_are_counted() {
        let text = "fn a((b, c): (u8, u8), d: (u8, u8)) {}\nimpl A { fn e(&self, (f, g): (u8, u8)) {} }\n\
                    fn h(&(i, j): &(u8, u8)) {}";
        assert_eq!(tuples(&source(text)), [1, 2]);
    }
}
