//! The list of readers, `parsers.txt`, held against the source and against the subjects.
//!
//! What reads foreign text or bytes is found by its name and its arguments, so that a new reader is noticed: a function
//! outside of tests that is called `parse…`, `read…`, `decode…`, `unpack…` or `from_…`, or is `from_str` or `try_from`
//! of a trait, takes text, bytes or a stream, and gives something back. Each is listed with the subjects that reach it,
//! or with the reason why nothing foreign gets there. Lines that nothing needs any more are errors, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{
    Attribute, FnArg, Ident, ImplItemFn, ItemFn, ItemImpl, ItemMod, Meta, ReturnType, Signature, Type, TypeReference,
};

use crate::all;

const LIST: &str = include_str!("../parsers.txt");
/// What a list of subjects begins with where there is a reason instead.
const REASON: &str = "- ";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Functions of one file.
#[derive(Default)]
struct Readers {
    /// The types whose functions are looked at, innermost last.
    types: Vec<String>,
    found: Vec<String>,
}

impl Readers {
    fn look(&mut self, signature: &Signature) {
        let name = signature.ident.to_string();
        let is_named = ["parse", "read", "decode", "unpack", "from"].iter().any(|verb| {
            let rest = name.strip_prefix(verb);
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphabetic) && (*verb != "from" || !rest.is_empty()))
        });
        let of_trait = name == "try_from" || name == "from_str";
        let gives = !matches!(signature.output, ReturnType::Default);
        if (is_named || of_trait) && gives && signature.inputs.iter().any(is_foreign) {
            let path = self.types.iter().cloned().chain([name]).collect::<Vec<_>>().join("::");
            self.found.push(path);
        }
    }
}

/// Whether an argument can be text, bytes, or what gives them.
fn is_foreign(argument: &FnArg) -> bool {
    let FnArg::Typed(argument) = argument else { return false };
    let words = words_of(&argument.ty);
    let has = |word: &str| words.iter().any(|found| found == word);
    // Closures that take text are no text, and values of scripts come by way of the engine.
    !["fn", "Fn", "FnMut", "FnOnce", "Ctx", "Path"].iter().any(|word| has(word))
        && (["str", "String", "u8", "Bytes", "BytesMut", "Read", "BufRead", "AsyncRead"].iter().any(|word| has(word)))
        && !(has("mut") && has("Vec"))
}

/// The names in a type, `mut` and `fn` among them.
#[derive(Default)]
struct Words(Vec<String>);

impl<'a> Visit<'a> for Words {
    fn visit_ident(&mut self, name: &'a Ident) {
        self.0.push(name.to_string());
    }

    fn visit_type_reference(&mut self, reference: &'a TypeReference) {
        self.0.extend(reference.mutability.map(|_| String::from("mut")));
        syn::visit::visit_type_reference(self, reference);
    }

    fn visit_type_fn_ptr(&mut self, function: &'a syn::TypeFnPtr) {
        self.0.push(String::from("fn"));
        syn::visit::visit_type_fn_ptr(self, function);
    }
}

fn words_of(of: &Type) -> Vec<String> {
    let mut words = Words::default();
    words.visit_type(of);
    words.0
}

fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            condition.contains("test") || condition.contains("fuzzing")
        }
        _ => false,
    })
}

impl<'a> Visit<'a> for Readers {
    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if !is_of_tests(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        let words = words_of(&item.self_ty);
        self.types.push(words.into_iter().find(|word| word.starts_with(char::is_uppercase)).unwrap_or_default());
        syn::visit::visit_item_impl(self, item);
        self.types.pop();
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        if !is_of_tests(&item.attrs) {
            self.look(&item.sig);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a ImplItemFn) {
        if !is_of_tests(&item.attrs) {
            self.look(&item.sig);
        }
    }
}

fn files_below(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() {
            files_below(&path, into);
        } else if name.ends_with(".rs") && !["tests.rs", "fuzzing.rs"].contains(&name.as_str()) {
            into.push(path);
        }
    }
}

/// `file function` of each reader in the source.
fn in_the_source() -> BTreeSet<String> {
    let root = root();
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join("crates")).unwrap().flatten() {
        files_below(&entry.path().join("src"), &mut files);
    }
    let mut all = BTreeSet::new();
    for path in files {
        let mut readers = Readers::default();
        readers.visit_file(&syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap());
        let file = path.strip_prefix(root.join("crates")).unwrap().display().to_string();
        all.extend(readers.found.into_iter().map(|function| format!("{file} {function}")));
    }
    all
}

/// The list: what stands behind `file function`.
fn listed() -> BTreeMap<String, String> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            let [file, function, rest] = words[..] else { panic!("{line}: expected FILE FUNCTION SUBJECTS|- REASON") };
            (format!("{file} {function}"), rest.to_owned())
        })
        .collect()
}

/// Whether a function that its name does not give away is in its file.
fn is_there(key: &str) -> bool {
    let Some((file, function)) = key.split_once(' ') else { return false };
    let name = function.rsplit("::").next().unwrap_or_default();
    let text = fs::read_to_string(root().join("crates").join(file)).unwrap_or_default();
    ["(", "<"].iter().any(|behind| text.contains(&format!("fn {name}{behind}")))
}

#[test]
fn every_reader_is_listed_and_every_line_is_needed() {
    let (source, list) = (in_the_source(), listed());
    let missing: Vec<&str> = source.iter().filter(|key| !list.contains_key(*key)).map(String::as_str).collect();
    let stale: Vec<&str> =
        list.keys().filter(|key| !source.contains(*key) && !is_there(key)).map(String::as_str).collect();
    assert!(
        missing.is_empty() && stale.is_empty(),
        "xtask/fuzz/parsers.txt: readers that are not listed (give each a subject, or `- ` and why nothing foreign \
         gets there):\n{}\nlines of what is not there any more:\n{}",
        missing.join("\n"),
        stale.join("\n")
    );
}

#[test]
fn subjects_and_readers_cover_each_other() {
    let mut reached = BTreeSet::new();
    for (reader, rest) in listed() {
        if let Some(reason) = rest.strip_prefix(REASON) {
            assert!(reason.len() > 10, "{reader}: expected a reason, found {reason:?}");
            continue;
        }
        for name in rest.split(',') {
            assert!(all().any(|subject| subject.name == name), "{reader}: there is no subject {name:?}");
            reached.insert(name.to_owned());
        }
    }
    let idle: Vec<&str> = all().map(|subject| subject.name).filter(|name| !reached.contains(*name)).collect();
    assert!(idle.is_empty(), "subjects that reach no listed reader: {}", idle.join(", "));
}

#[test]
fn a_new_reader_is_noticed() {
    let found = |source: &str| {
        let mut readers = Readers::default();
        readers.visit_file(&syn::parse_file(source).unwrap());
        readers.found
    };
    for (source, expected) in [
        ("fn parse_it(text: &str) -> Option<u8> { None }", "parse_it"),
        ("impl<'a> Foo<'a> { fn read(from: &mut impl BufRead) -> u8 { 0 } }", "Foo::read"),
        ("impl TryFrom<&[u8]> for Bar { fn try_from(b: &[u8]) -> Result<Self, ()> { Err(()) } }", "Bar::try_from"),
        ("impl FromStr for Bar { fn from_str(s: &str) -> Result<Self, ()> { Err(()) } }", "Bar::from_str"),
        ("mod inner { pub async fn decode(bytes: Bytes) -> u8 { 0 } }", "decode"),
    ] {
        assert_eq!(found(source), [expected]);
    }
    for source in [
        "fn ready(text: &str) -> u8 { 0 }",
        "fn read(number: u64) -> u8 { 0 }",
        "fn read(text: &str) {}",
        "#[cfg(test)] mod tests { fn read(text: &str) -> u8 { 0 } }",
    ] {
        assert_eq!(found(source), Vec::<String>::new(), "{source}");
    }
}
