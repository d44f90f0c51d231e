//! No circle of imports of more than three files, and none between the folders of a crate.
//!
//! Two or three files that know each other are one thought on several pages. More of them cannot be understood, tested
//! or moved without all the others. A room is a folder with the files in it; a file in `src` itself is a room of its
//! own, or opens the folder of its name. Circles of such files alone are for the rule of files.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Finding, Rule};
use crate::graph;
use crate::imports::Imports;
use crate::workspace::{Package, Workspace};

const FILES: usize = 3;

/// The imports of every crate, and their circles.
pub struct Circles {
    /// In the order of [`Workspace::packages`].
    pub of: Vec<Graph>,
}

/// One crate.
pub struct Graph {
    pub imports: Imports,
    /// Circles of files, the largest first.
    pub files: Vec<Vec<usize>>,
    /// Circles of rooms, the largest first.
    pub rooms: Vec<Vec<usize>>,
    names: Vec<String>,
    /// Between rooms, with the import of files that makes it.
    between: BTreeMap<(usize, usize), (usize, usize)>,
}

impl Circles {
    /// Reads all imports.
    pub fn of(workspace: &Workspace) -> Self {
        Self { of: workspace.packages.iter().map(Graph::of).collect() }
    }

    pub fn findings(&self, workspace: &Workspace) -> Vec<Finding> {
        let both = workspace.packages.iter().zip(&self.of);
        both.flat_map(|(package, graph)| [graph.file_circle(package), graph.room_circle(package)]).flatten().collect()
    }
}

impl Graph {
    fn of(package: &Package) -> Self {
        let imports = Imports::of(package);
        let edges: Vec<(usize, usize)> = imports.edges.keys().copied().collect();
        let files = graph::circles(package.sources.len(), &edges);
        let of_file = rooms(package);
        let mut names = of_file.clone();
        names.sort_unstable();
        names.dedup();
        let number = |file: usize| names.binary_search(&of_file[file]).expect("every file's room is in the list");
        let mut between = BTreeMap::new();
        for (from, to) in edges {
            if of_file[from] != of_file[to] {
                between.entry((number(from), number(to))).or_insert((from, to));
            }
        }
        let room_edges: Vec<(usize, usize)> = between.keys().copied().collect();
        let mut rooms = graph::circles(names.len(), &room_edges);
        rooms.retain(|members| members.iter().any(|room| !names[*room].ends_with(".rs")));
        Self { imports, files, rooms, names, between }
    }

    fn file_circle(&self, package: &Package) -> Option<Finding> {
        let large = self.files.iter().filter(|members| members.len() > FILES);
        let found = large.clone().map(Vec::len).sum();
        let largest = self.files.first().filter(|members| members.len() > FILES)?;
        let edges: Vec<(usize, usize)> = self.imports.edges.keys().copied().collect();
        let cuts: Vec<(usize, usize)> = large.clone().flat_map(|members| graph::cuts(members, &edges)).collect();
        let name = |file: usize| package.sources[file].path.as_str();
        let what = format!(
            "{} files import each other in {} circles of more than {FILES}; the largest has {}: {}",
            found,
            large.count(),
            largest.len(),
            largest.iter().map(|file| short(name(*file), &package.folder)).collect::<Vec<_>>().join(" ")
        );
        Some(Finding {
            rule: Rule::Circle,
            subject: package.folder.clone(),
            place: self.place(package, cuts[0]),
            found,
            allowed: 0,
            what,
            help: self.advice(package, &cuts),
        })
    }

    fn room_circle(&self, package: &Package) -> Option<Finding> {
        let found = self.rooms.iter().map(Vec::len).sum();
        let edges: Vec<(usize, usize)> = self.between.keys().copied().collect();
        let cuts: Vec<(usize, usize)> = self
            .rooms
            .iter()
            .flat_map(|members| graph::cuts(members, &edges))
            .map(|between| self.between[&between])
            .collect();
        let named =
            |members: &Vec<usize>| members.iter().map(|room| self.names[*room].as_str()).collect::<Vec<_>>().join(" ");
        self.rooms.first()?;
        Some(Finding {
            rule: Rule::FolderCircle,
            subject: package.folder.clone(),
            place: self.place(package, cuts[0]),
            found,
            allowed: 0,
            what: format!(
                "{found} folders import each other in {} circles: {}",
                self.rooms.len(),
                self.rooms.iter().map(named).collect::<Vec<_>>().join(" | ")
            ),
            help: self.advice(package, &cuts),
        })
    }

    fn place(&self, package: &Package, import: (usize, usize)) -> String {
        format!("{}:{}", package.sources[import.0].path, self.imports.edges[&import])
    }

    /// Which imports to take out.
    fn advice(&self, package: &Package, cuts: &[(usize, usize)]) -> String {
        let mut help = format!("move what both sides need below both; these {} imports close the circles:", cuts.len());
        for cut in cuts {
            let to = short(&package.sources[cut.1].path, &package.folder);
            help.push_str(&format!("\n      {} imports {to}", self.place(package, *cut)));
        }
        help
    }
}

fn short<'a>(path: &'a str, folder: &str) -> &'a str {
    let path = path.strip_prefix(folder).unwrap_or(path);
    path.trim_start_matches('/').trim_start_matches("src/")
}

/// The room of each file.
fn rooms(package: &Package) -> Vec<String> {
    let paths: Vec<&str> = package.sources.iter().map(|source| short(&source.path, &package.folder)).collect();
    let folders: BTreeSet<&str> = paths.iter().filter_map(|path| Some(path.rsplit_once('/')?.0)).collect();
    let room = |path: &&str| {
        let opens = path.trim_end_matches(".rs");
        let folder = path.rsplit_once('/').map(|(folder, _)| folder);
        folders.get(opens).copied().or(folder).unwrap_or(path).to_owned()
    };
    paths.iter().map(room).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Source;

    fn package(files: &[(&str, &str)]) -> Package {
        let source = |(path, text): &(&str, &str)| {
            Source::parse(&format!("crates/a/src/{path}"), "crates/a", (*text).to_owned()).unwrap()
        };
        Package { name: "a".into(), folder: "crates/a".into(), sources: files.iter().map(source).collect() }
    }

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let package = package(files);
        let name = |file: usize| files[file].0.trim_end_matches(".rs");
        let imports = Imports::of(&package);
        imports.edges.keys().map(|(from, to)| format!("{} {}", name(*from), name(*to))).collect()
    }

    const LIB: (&str, &str) = ("lib.rs", "mod one; pub mod two; pub use two::Two; macro_rules! made { () => {} }");

    #[test]
    fn a_name_leads_to_the_file_that_defines_it() {
        let two = ("two.rs", "pub struct Two; pub fn f() {}");
        for one in [
            "use crate::Two;",
            "use super::two::Two;",
            "use crate::two; fn a() { two::f() }",
            "fn a() -> crate::Two { Two }",
            "use super::*; fn a(x: Two) {}",
            "fn a() { println!(\"{}\", crate::two::f()) }",
            "fn a() { use crate::{two::{self as other}}; other::f() }",
            "mod inner { fn a() { super::super::two::f() } }",
        ] {
            assert_eq!(edges(&[LIB, ("one.rs", one), two]), ["one two"], "{one}");
        }
    }

    #[test]
    fn tests_reexports_and_other_crates_are_no_imports() {
        let two = ("two.rs", "pub struct Two;");
        for one in [
            "#[cfg(test)] mod tests { use crate::Two; }",
            "pub use crate::two::Two;",
            "use std::fmt; use two::Two;",
            "mod two { pub struct Two; } use two::Two;",
        ] {
            assert_eq!(edges(&[LIB, ("one.rs", one), two]), Vec::<String>::new(), "{one}");
        }
    }

    #[test]
    fn four_files_in_a_circle_are_told_with_the_import_that_closes_it() {
        let file = |next: &str| format!("pub struct T; use crate::{next}::T as N;");
        let (a, b, c, d) = (file("b"), file("c"), file("d"), file("a"));
        let files =
            [("a.rs", a.as_str()), ("b.rs", &b), ("c.rs", &c), ("d.rs", &d), ("lib.rs", "mod a; mod b; mod c; mod d;")];
        let package = package(&files);
        let found = Graph::of(&package).file_circle(&package).unwrap();
        assert_eq!(
            found.to_string(),
            "crates/a/src/d.rs:1: 4 files import each other in 1 circles of more than 3; the largest has 4: a.rs b.rs \
             c.rs d.rs [circle crates/a]\n    found 4, allowed 0\n    move what both sides need below both; these 1 \
             imports close the circles:\n      crates/a/src/d.rs:1 imports a.rs"
        );
        assert!(Graph::of(&package).room_circle(&package).is_none());
    }

    #[test]
    fn two_folders_do_not_import_each_other() {
        let files = [
            ("a/mod.rs", "pub struct A; use crate::b::B;"),
            ("b.rs", "mod c; pub struct B;"),
            ("b/c.rs", "use crate::a::A;"),
            ("lib.rs", "mod a; mod b;"),
        ];
        let package = package(&files);
        let graph = Graph::of(&package);
        assert!(graph.file_circle(&package).is_none());
        let found = graph.room_circle(&package).unwrap();
        assert_eq!((found.found, found.what.as_str()), (2, "2 folders import each other in 1 circles: a b"));
    }
}
