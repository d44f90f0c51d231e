//! A type name stands once in a crate: whoever reads it knows which type is meant, whoever searches finds one.

use std::collections::BTreeMap;

use syn::Item;
use syn::visit::{self, Visit};

use crate::finding::{Finding, Rule};
use crate::modules::{attributes, is_test};
use crate::workspace::{Package, Place, Workspace};

pub fn findings(workspace: &Workspace) -> Vec<Finding> {
    workspace.packages.iter().flat_map(of_package).collect()
}

fn of_package(package: &Package) -> Vec<Finding> {
    let duplicates = duplicates(package).into_iter();
    let finding = |(name, places): (String, Vec<String>)| Finding {
        rule: Rule::TypeName,
        subject: format!("{}/{name}", package.folder),
        place: places[0].clone(),
        found: places.len(),
        allowed: 1,
        what: format!("`{name}` names {} types of this crate: {}", places.len(), places.join(" ")),
        help: "name each for what it is".to_owned(),
    };
    duplicates.map(finding).collect()
}

/// Type names that a crate defines more than once, tests left out, and where.
pub fn duplicates(package: &Package) -> Vec<(String, Vec<String>)> {
    type_names(package).into_iter().filter(|(_, places)| places.len() > 1).collect()
}

/// Type names that a crate defines, tests left out, and where.
pub(super) fn type_names(package: &Package) -> BTreeMap<String, Vec<String>> {
    let mut types = Types { path: "", found: BTreeMap::new() };
    for source in package.sources.iter().filter(|source| source.place == Place::Product && !source.is_test) {
        types.path = &source.path;
        source.syntax.items.iter().for_each(|item| types.visit_item(item));
    }
    types.found
}

/// Visits every definition of a type, those in functions too.
struct Types<'a> {
    path: &'a str,
    found: BTreeMap<String, Vec<String>>,
}

impl<'ast> Visit<'ast> for Types<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if attributes(item).iter().any(is_test) {
            return;
        }
        let ident = match item {
            Item::Enum(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        if let Some(ident) = ident {
            let place = format!("{}:{}", self.path, ident.span().start().line);
            self.found.entry(ident.to_string()).or_default().push(place);
        }
        visit::visit_item(self, item);
    }
}
