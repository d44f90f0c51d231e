//! The modules of a crate and what a path in one of them leads to: the file that defines the name.
//!
//! Re-exports are followed, `crate::Trend` leads to `trend.rs` and not to `lib.rs`. Code under `#[cfg(test)]` is left
//! out. Names are resolved as the compiler does it, without macros: what a macro makes is taken to stand in the module
//! that a path ends in.

use std::collections::HashMap;

use syn::visit::Visit;
use syn::{Attribute, Item, UseTree};

use super::workspace::Source;

/// One module: a file, or an inline `mod` in one.
#[derive(Default)]
struct Module {
    file: usize,
    parent: Option<usize>,
    children: HashMap<String, usize>,
    definitions: HashMap<String, ()>,
    uses: Vec<Use>,
    globs: Vec<Vec<String>>,
}

/// One name that a `use` brings into a module.
struct Use {
    name: String,
    path: Vec<String>,
}

/// The module tree of one crate.
pub struct Modules {
    modules: Vec<Module>,
    /// The module that each file opens; none for a file that the product does not reach.
    of_file: HashMap<usize, usize>,
}

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    Module(usize),
    /// Something that is defined in this module.
    Item(usize),
}

/// How many re-exports a name may pass: more is a circle of globs.
const HOPS: usize = 12;

impl Modules {
    /// Reads the tree below each root (`src/lib.rs`, `src/main.rs`, `build.rs`) of a crate.
    pub fn of(sources: &[Source], folder: &str) -> Self {
        let mut tree = Self { modules: Vec::new(), of_file: HashMap::new() };
        let by_path: HashMap<&str, usize> = sources.iter().enumerate().map(|(n, s)| (s.path.as_str(), n)).collect();
        for root in ["src/lib.rs", "src/main.rs", "build.rs"] {
            if let Some(&file) = by_path.get(format!("{folder}/{root}").as_str()) {
                tree.add_file(sources, &by_path, file, None, &format!("{folder}/src"));
            }
        }
        tree
    }

    /// The module that a file opens.
    pub fn of_file(&self, file: usize) -> Option<usize> {
        self.of_file.get(&file).copied()
    }

    /// The file that a module is in.
    pub fn file(&self, module: usize) -> usize {
        self.modules[module].file
    }

    /// The inline module `name` of `module`.
    pub fn child(&self, module: usize, name: &str) -> Option<usize> {
        self.modules[module].children.get(name).copied()
    }

    fn add_file(
        &mut self,
        sources: &[Source],
        by_path: &HashMap<&str, usize>,
        file: usize,
        parent: Option<usize>,
        folder: &str,
    ) -> usize {
        let id = self.add_module(file, parent);
        self.of_file.insert(file, id);
        self.add_items(sources, by_path, id, &sources[file].syntax.items, folder);
        id
    }

    fn add_module(&mut self, file: usize, parent: Option<usize>) -> usize {
        self.modules.push(Module { file, parent, ..Module::default() });
        self.modules.len() - 1
    }

    /// `folder`: where the files of this module's children lie.
    fn add_items(
        &mut self,
        sources: &[Source],
        by_path: &HashMap<&str, usize>,
        id: usize,
        items: &[Item],
        folder: &str,
    ) {
        for item in items.iter().filter(|item| !attributes(item).iter().any(is_test)) {
            let Item::Mod(module) = item else {
                self.add_item(id, item);
                continue;
            };
            let name = module.ident.to_string();
            let below = format!("{folder}/{name}");
            let child = if let Some((_, items)) = &module.content {
                let child = self.add_module(self.modules[id].file, Some(id));
                self.modules[id].children.insert(name, child);
                self.add_items(sources, by_path, child, items, &below);
                continue;
            } else {
                [format!("{below}.rs"), format!("{below}/mod.rs")].iter().find_map(|path| by_path.get(path.as_str()))
            };
            if let Some(&file) = child {
                let child = self.add_file(sources, by_path, file, Some(id), &below);
                self.modules[id].children.insert(name, child);
            }
        }
    }

    fn add_item(&mut self, id: usize, item: &Item) {
        let name = match item {
            Item::Const(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Fn(item) => Some(&item.sig.ident),
            Item::Macro(item) => item.ident.as_ref(),
            Item::Static(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        if let Some(name) = name {
            self.modules[id].definitions.insert(name.to_string(), ());
        }
        let mut uses = Uses { module: &mut self.modules[id] };
        uses.visit_item(item);
    }

    /// What `path`, written in `module`, leads to; nothing when it leads out of the crate.
    pub fn resolve(&self, module: usize, path: &[String]) -> Option<Found> {
        self.follow(module, path, HOPS)
    }

    /// What a name without a path leads to when a glob brought it in.
    pub fn through_glob(&self, module: usize, name: &str) -> Option<Found> {
        let own = &self.modules[module];
        if own.definitions.contains_key(name) || own.uses.iter().any(|used| used.name == name) {
            return None;
        }
        own.globs.iter().find_map(|glob| self.in_glob(module, glob, name, HOPS))
    }

    fn follow(&self, module: usize, path: &[String], hops: usize) -> Option<Found> {
        let hops = hops.checked_sub(1)?;
        let mut at = module;
        for (step, segment) in path.iter().enumerate() {
            let last = step + 1 == path.len();
            match segment.as_str() {
                "crate" => at = self.root(module),
                "self" => {}
                "super" => at = self.modules[at].parent?,
                name => match self.lookup(at, name, last, hops) {
                    Some(Found::Module(next)) => at = next,
                    Some(item) => return Some(item),
                    // Made by a macro, or a name of std's prelude.
                    None if step > 0 => return Some(Found::Item(at)),
                    None => return None,
                },
            }
        }
        Some(Found::Module(at))
    }

    fn root(&self, module: usize) -> usize {
        let mut at = module;
        while let Some(parent) = self.modules[at].parent {
            at = parent;
        }
        at
    }

    /// `last`: an item of this name is meant rather than a module of the same name.
    fn lookup(&self, module: usize, name: &str, last: bool, hops: usize) -> Option<Found> {
        let own = &self.modules[module];
        let child = own.children.get(name).map(|child| Found::Module(*child));
        if child.is_some() && !last {
            return child;
        }
        if own.definitions.contains_key(name) {
            return Some(Found::Item(module));
        }
        let used = own.uses.iter().filter(|used| used.name == name);
        let mut found = used.filter_map(|used| self.follow(module, &used.path, hops));
        if let Some(found) = found.next() {
            return Some(found);
        }
        child.or_else(|| own.globs.iter().find_map(|glob| self.in_glob(module, glob, name, hops)))
    }

    fn in_glob(&self, module: usize, glob: &[String], name: &str, hops: usize) -> Option<Found> {
        match self.follow(module, glob, hops)? {
            Found::Module(of) if of != module => self.lookup(of, name, true, hops.checked_sub(1)?),
            _ => None,
        }
    }
}

/// Collects every `use` of an item, inside functions too.
struct Uses<'m> {
    module: &'m mut Module,
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            leaves(&item.tree, &mut Vec::new(), &mut |leaf| match leaf {
                Leaf::Name { path, name } => self.module.uses.push(Use { name, path }),
                Leaf::Glob { path } => self.module.globs.push(path),
            });
        }
    }

    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}
}

/// One end of a tree of `use`.
pub enum Leaf {
    Name { path: Vec<String>, name: String },
    Glob { path: Vec<String> },
}

/// Calls `each` for every end of `tree`.
pub fn leaves(tree: &UseTree, path: &mut Vec<String>, each: &mut impl FnMut(Leaf)) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            leaves(&part.tree, path, each);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|item| leaves(item, path, each)),
        UseTree::Glob(_) => each(Leaf::Glob { path: path.clone() }),
        UseTree::Name(name) => named(path, &name.ident.to_string(), None, each),
        UseTree::Rename(rename) => named(path, &rename.ident.to_string(), Some(rename.rename.to_string()), each),
    }
}

fn named(path: &[String], ident: &str, rename: Option<String>, each: &mut impl FnMut(Leaf)) {
    let mut path = path.to_vec();
    if ident != "self" || path.is_empty() {
        path.push(ident.to_owned());
    }
    let name = rename.or_else(|| path.last().cloned()).unwrap_or_default();
    each(Leaf::Name { path, name });
}

/// The attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an attribute says that its item exists in tests only.
pub fn is_test(attribute: &Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let condition = list.tokens.to_string();
    list.path.is_ident("cfg") && (condition == "test" || condition.starts_with("all (test"))
}
