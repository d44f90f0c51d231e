//! What there is to look at: the files that git knows or would take, and which crate each belongs to.
//!
//! Everything is read once and parsed once; rules get it by reference.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{Delimiter, Ident, Literal, TokenStream, TokenTree};

use crate::modules::Modules;

/// One Rust file.
pub struct Source {
    /// From the root of the repository, with slashes.
    pub path: String,
    pub text: String,
    pub syntax: syn::File,
    pub place: Place,
    /// A module file that is declared under `#[cfg(test)]`.
    pub is_test: bool,
}

/// Where in its crate a file lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Product,
    Tests,
    Examples,
}

/// A package of the workspace.
pub struct Package {
    /// `crates/wire` → `wire`: the name in code.
    pub name: String,
    /// From the root of the repository: `crates/wire`.
    pub folder: String,
    pub sources: Vec<Source>,
}

/// The repository.
pub struct Workspace {
    pub root: PathBuf,
    /// Every file that is tracked or would be, with its size.
    pub files: BTreeMap<String, u64>,
    pub packages: Vec<Package>,
}

impl Workspace {
    /// Reads the repository at `root`.
    ///
    /// # Errors
    /// When git or a file cannot be read, or a Rust file does not parse.
    pub fn read(root: &Path) -> Result<Self, String> {
        let files = files(root)?;
        let mut packages: Vec<Package> = Vec::new();
        for manifest in files.keys().filter(|path| path.ends_with("/Cargo.toml")) {
            let folder = manifest.trim_end_matches("/Cargo.toml").to_owned();
            let name = folder.rsplit('/').next().unwrap_or(&folder).to_owned();
            packages.push(Package { name, folder, sources: Vec::new() });
        }
        for path in files.keys().filter(|path| path.ends_with(".rs")) {
            let owner = packages.iter_mut().filter(|package| path.starts_with(&format!("{}/", package.folder)));
            let Some(package) = owner.max_by_key(|package| package.folder.len()) else { continue };
            let text = std::fs::read_to_string(root.join(path)).map_err(|e| format!("{path}: {e}"))?;
            let source = Source::parse(path, &package.folder, text)?;
            package.sources.push(source);
        }
        packages.iter_mut().for_each(Package::mark_tests);
        Ok(Self { root: root.to_owned(), files, packages })
    }

    /// Every Rust file.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.packages.iter().flat_map(|package| &package.sources)
    }
}

impl Package {
    /// What no module of the product declares is declared under `#[cfg(test)]`.
    fn mark_tests(&mut self) {
        let modules = Modules::of(&self.sources, &self.folder);
        for (file, source) in self.sources.iter_mut().enumerate() {
            source.is_test = source.place == Place::Product && modules.of_file(file).is_none();
        }
    }
}

/// One token, groups taken apart.
pub enum Token<'t> {
    Open(Delimiter),
    Close(Delimiter),
    Ident(&'t Ident),
    Punct(char),
    Literal(&'t Literal),
}

impl Source {
    /// Calls `each` with every token that is not under `#[cfg(test)]`.
    pub fn each_token(&self, each: &mut impl FnMut(Token)) {
        // A file that syn has read has tokens.
        tokens(self.text.parse().unwrap_or_default(), each);
    }

    /// Parses `text`, the content of `path` in the package at `folder`.
    ///
    /// # Errors
    /// When it is not Rust.
    pub fn parse(path: &str, folder: &str, text: String) -> Result<Self, String> {
        let syntax = syn::parse_file(&text).map_err(|e| format!("{path}:{}: {e}", e.span().start().line))?;
        let place = match path[folder.len() + 1..].split('/').next() {
            Some("tests") => Place::Tests,
            Some("examples" | "benches") => Place::Examples,
            _ => Place::Product,
        };
        Ok(Self { path: path.to_owned(), text, syntax, place, is_test: false })
    }
}

/// Tracked files and new ones that are not ignored, less those that were deleted.
fn files(root: &Path) -> Result<BTreeMap<String, u64>, String> {
    let command = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").arg("-C").arg(root).args(command).output();
    let output = output.map_err(|e| format!("git cannot be run: {e}"))?;
    if !output.status.success() {
        return Err(format!("git {}: {}", command.join(" "), String::from_utf8_lossy(&output.stderr).trim()));
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let existing = names.split('\0').filter(|name| !name.is_empty()).filter_map(|name| {
        let size = std::fs::symlink_metadata(root.join(name)).ok()?.len();
        Some((name.to_owned(), size))
    });
    Ok(existing.collect())
}

fn tokens(stream: TokenStream, each: &mut impl FnMut(Token)) {
    let mut stream = stream.into_iter().peekable();
    while let Some(token) = stream.next() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '#' && stream.peek().is_some_and(is_test_attribute) => {
                stream.by_ref().skip(1).find(ends_item);
            }
            TokenTree::Punct(punct) => each(Token::Punct(punct.as_char())),
            TokenTree::Ident(ident) => each(Token::Ident(ident)),
            TokenTree::Literal(literal) => each(Token::Literal(literal)),
            TokenTree::Group(group) => {
                each(Token::Open(group.delimiter()));
                tokens(group.stream(), each);
                each(Token::Close(group.delimiter()));
            }
        }
    }
}

fn is_test_attribute(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let text = group.stream().to_string();
    group.delimiter() == Delimiter::Bracket
        && (text == "cfg (test)" || text == "cfg(test)" || text.starts_with("cfg (all (test"))
}

fn ends_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    }
}
