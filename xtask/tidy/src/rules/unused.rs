//! Public items that nothing but tests uses: either the product needs them one day, or they are there for their own
//! sake.
//!
//! By name, over all crates: an item counts as used when its name stands anywhere in the product besides where it is
//! defined, re-exported, or implemented. Two items of one name shield each other; what is told is unused, what is
//! unused is not always told.

use std::collections::HashSet;

use proc_macro2::Delimiter;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, Visibility};

use crate::finding::{Finding, Rule};
use crate::modules::{attributes, is_test};
use crate::workspace::{Place, Source, Token, Workspace};

pub fn findings(workspace: &Workspace) -> Vec<Finding> {
    let mut used = HashSet::new();
    for source in workspace.sources().filter(|source| source.place != Place::Tests && !source.is_test) {
        names_used(source, &mut used);
    }
    let product = workspace.sources().filter(|source| source.place == Place::Product && !source.is_test);
    product.flat_map(|source| unused(source, &used)).collect()
}

fn unused(source: &Source, used: &HashSet<String>) -> Vec<Finding> {
    let mut items = Public { found: Vec::new() };
    source.syntax.items.iter().for_each(|item| items.visit_item(item));
    let idle = items.found.into_iter().filter(|(name, _)| !used.contains(name));
    let finding = |(name, line): (String, usize)| Finding {
        rule: Rule::UnusedPub,
        subject: format!("{}/{name}", source.path),
        place: format!("{}:{line}", source.path),
        found: 0,
        allowed: 1,
        what: format!("nothing but tests uses `{name}`"),
        help: "delete it, or move it to the tests that need it".to_owned(),
    };
    idle.map(finding).collect()
}

/// Public items of a file, tests left out: name and line.
struct Public {
    found: Vec<(String, usize)>,
}

impl Public {
    fn item(&mut self, visibility: &Visibility, attributes: &[Attribute], ident: &Ident) {
        // What a linker or another macro calls by name is used where no source says so.
        let called_elsewhere = attributes
            .iter()
            .any(|attribute| ["unsafe", "no_mangle", "ctor"].iter().any(|name| attribute.path().is_ident(name)));
        if !matches!(visibility, Visibility::Inherited) && !called_elsewhere {
            self.found.push((ident.to_string(), ident.span().start().line));
        }
    }
}

impl<'ast> Visit<'ast> for Public {
    fn visit_item(&mut self, item: &'ast Item) {
        if attributes(item).iter().any(is_test) {
            return;
        }
        match item {
            Item::Const(item) => self.item(&item.vis, &item.attrs, &item.ident),
            Item::Enum(item) => self.item(&item.vis, &item.attrs, &item.ident),
            Item::Fn(item) => self.item(&item.vis, &item.attrs, &item.sig.ident),
            Item::Static(item) => self.item(&item.vis, &item.attrs, &item.ident),
            Item::Struct(item) => self.item(&item.vis, &item.attrs, &item.ident),
            Item::Trait(item) => self.item(&item.vis, &item.attrs, &item.ident),
            Item::Type(item) => self.item(&item.vis, &item.attrs, &item.ident),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        match item {
            syn::ImplItem::Fn(function) if !function.attrs.iter().any(is_test) => {
                self.item(&function.vis, &function.attrs, &function.sig.ident);
            }
            syn::ImplItem::Const(constant) => self.item(&constant.vis, &constant.attrs, &constant.ident),
            _ => {}
        }
    }
}

/// Words after which a name is defined, not used.
const DEFINING: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union"];

/// Where in the code a token stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    /// `pub use …;`
    Export,
    /// `impl …` up to its brace.
    ImplHead,
}

/// Adds every name that a file uses.
fn names_used(source: &Source, used: &mut HashSet<String>) {
    let mut part = Part::Code;
    let (mut before, mut item_may_begin, mut public) = (String::new(), true, false);
    source.each_token(&mut |token| {
        let begins = std::mem::replace(&mut item_may_begin, false);
        match token {
            Token::Ident(ident) => {
                let word = ident.to_string();
                match word.as_str() {
                    "impl" if begins || before == "unsafe" => part = Part::ImplHead,
                    "use" if public => part = Part::Export,
                    _ if part == Part::Code && !DEFINING.contains(&before.as_str()) => {
                        used.insert(word.clone());
                    }
                    _ => {}
                }
                public = word == "pub" || public && matches!(word.as_str(), "crate" | "super" | "in" | "self");
                before = word;
            }
            Token::Literal(literal) => words_of(&literal.to_string(), used),
            Token::Open(delimiter) => {
                item_may_begin = delimiter == Delimiter::Brace;
                part = if part == Part::ImplHead && item_may_begin { Part::Code } else { part };
                before.clear();
            }
            Token::Close(delimiter) => {
                item_may_begin = delimiter != Delimiter::Parenthesis;
                before.clear();
            }
            Token::Punct(punct) => {
                item_may_begin = punct == ';';
                part = if item_may_begin { Part::Code } else { part };
                before.clear();
            }
        }
    });
}

/// Names in a text: serde calls functions by them.
fn words_of(literal: &str, used: &mut HashSet<String>) {
    let words = literal.trim_matches('"').split("::");
    used.extend(words.filter(|word| syn::parse_str::<Ident>(word).is_ok()).map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(product: &str) -> Vec<String> {
        let head = "//! What this file is for, in a sentence.\n";
        let source = Source::parse("crates/a/src/b.rs", "crates/a", format!("{head}{product}")).unwrap();
        let mut used = HashSet::new();
        names_used(&source, &mut used);
        unused(&source, &used).into_iter().map(|finding| finding.subject.replace("crates/a/src/b.rs/", "")).collect()
    }

    #[test]
    fn what_only_tests_use_is_told() {
        assert_eq!(found("pub fn a() {}\n#[cfg(test)]\nmod tests { fn t() { super::a(); } }"), ["a"]);
        assert_eq!(
            found("pub struct A;\nimpl A { pub fn new() -> Self { Self } }\npub use self::A as B;"),
            ["A", "new"]
        );
        assert_eq!(found("pub const N: u8 = 1;\npub(crate) use c::{N};"), ["N"]);
    }

    #[test]
    fn what_the_product_uses_is_not() {
        assert!(found("pub fn a() {}\nfn main() { a(); }").is_empty());
        assert!(found("pub fn a() {}\nfn main() { println!(\"{}\", a()); }").is_empty());
        assert!(found("pub struct A;\nfn f(x: impl Into<A>) {}").is_empty());
        assert!(found("pub fn a() -> u8 { 1 }\nstruct S { #[serde(default = \"a\")] s: u8 }").is_empty());
        assert!(found("fn a() {}").is_empty());
    }
}
