//! Which file of a crate imports which: by `use`, and by paths written where they are used.
//!
//! A re-export (`pub use`) is another name for a thing and no import: who uses the name imports the file that defines
//! it. So is a `use` of a whole module: what is then taken out of the module counts.

use std::collections::{BTreeMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, Visibility};

use super::modules::{Found, Leaf, Modules, attributes, is_test, leaves};
use super::workspace::Package;

/// One crate's files as nodes, by their index in [`Package::sources`].
pub struct Imports {
    /// From, to: the first line that says so.
    pub edges: BTreeMap<(usize, usize), usize>,
    /// Other crates by the name in code: file, name, line.
    pub foreign: Vec<(usize, String, usize)>,
}

impl Imports {
    /// Reads the imports of one crate, tests left out.
    pub fn of(package: &Package) -> Self {
        let modules = Modules::of(&package.sources, &package.folder);
        let mut imports = Self { edges: BTreeMap::new(), foreign: Vec::new() };
        for (file, source) in package.sources.iter().enumerate() {
            let Some(module) = modules.of_file(file) else { continue };
            let mut reader = Reader { modules: &modules, module, file, imports: &mut imports, seen: HashSet::new() };
            source.syntax.items.iter().for_each(|item| reader.visit_item(item));
        }
        imports
    }
}

/// Walks through one file.
struct Reader<'a> {
    modules: &'a Modules,
    module: usize,
    file: usize,
    imports: &'a mut Imports,
    seen: HashSet<String>,
}

impl Reader<'_> {
    fn path(&mut self, path: &[String], line: usize, of_use: bool) {
        let found = match path {
            [] => return,
            [name] if !of_use => self.modules.through_glob(self.module, name),
            path => self.modules.resolve(self.module, path),
        };
        let Some(found) = found else {
            if path.len() > 1 && self.seen.insert(path[0].clone()) {
                self.imports.foreign.push((self.file, path[0].clone(), line));
            }
            return;
        };
        let (Found::Item(to) | Found::Module(to)) = found;
        let to = self.modules.file(to);
        if to != self.file && !matches!(found, Found::Module(_)) {
            self.imports.edges.entry((self.file, to)).or_insert(line);
        }
    }

    /// Paths in what a macro is given: its tokens are not syntax yet.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.path(&path, line, false);
                        path.clear();
                    }
                    line = ident.span().start().line;
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                other => {
                    self.path(&path, line, false);
                    path.clear();
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.path(&path, line, false);
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !attributes(item).iter().any(is_test) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let of_tests = matches!(item, syn::ImplItem::Fn(function) if function.attrs.iter().any(is_test));
        if !of_tests {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let (Some((_, items)), Some(child)) = (&item.content, self.modules.child(self.module, &item.ident.to_string()))
        else {
            return;
        };
        let outer = std::mem::replace(&mut self.module, child);
        items.iter().for_each(|item| self.visit_item(item));
        self.module = outer;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_some() || !matches!(item.vis, Visibility::Inherited) {
            return;
        }
        let line = item.use_token.span.start().line;
        leaves(&item.tree, &mut Vec::new(), &mut |leaf| match leaf {
            Leaf::Name { path, .. } => self.path(&path, line, true),
            Leaf::Glob { path } => self.path(&path, line, true),
        });
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.path(&names, path.segments[0].ident.span().start().line, false);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        visit::visit_macro(self, item);
        self.tokens(item.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}
