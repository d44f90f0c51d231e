//! Writes where the functions of QuickJS's C files are, as Rust source: offset, length and name, by object file.
//!
//! `engine_code.rs` needs them to know whether an interrupted instruction is the engine's. The symbol table of the
//! program would say so too, but programs are stripped when they are handed out. The linker places the code section of
//! an object file as a whole, so the address of one exported function (an anchor) gives the addresses of all others.
//! Code that the compiler moved to `.text.unlikely` is left out: it is not preempted.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

/// One function in the code section of an object file.
struct Function {
    offset: u64,
    length: u64,
    name: String,
    is_exported: bool,
}

/// Writes the table of these object files. A file without exported functions has no anchor and is left out.
pub fn write(objects: &[PathBuf], to: &Path) {
    let (mut externs, mut files) = (String::new(), String::new());
    for path in objects {
        let functions = functions(path);
        // The one that `exception.rs` declares, with its parameters, is left out: a name has one declaration.
        let is_anchor = |function: &&Function| function.is_exported && function.name != "js_std_cmd";
        let exported: Vec<&Function> = functions.iter().filter(is_anchor).collect();
        let [first, .., last] = exported.as_slice() else { continue };
        for anchor in [first, last] {
            writeln!(externs, "    fn {}();", anchor.name).expect("strings take everything");
        }
        writeln!(files, "{}", of_file([first, last], &functions)).expect("strings take everything");
    }
    let text = format!(
        "unsafe extern \"C\" {{\n{externs}}}\n\n/// The object files of the engine.\n\
         static FILES: &[ObjectFile] = &[\n{files}];\n"
    );
    fs::write(to, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", to.display()));
}

/// The functions in the code section of an object file, by offset.
fn functions(path: &Path) -> Vec<Function> {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let file = object::File::parse(bytes.as_slice())
        .unwrap_or_else(|error| panic!("{} is not an object file: {error}", path.display()));
    let code = file.section_by_name(".text").map(|section| section.index());
    let mut functions: Vec<Function> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.section_index() == code && symbol.size() > 0)
        .filter_map(|symbol| {
            let name = symbol.name().ok()?.to_owned();
            Some(Function { offset: symbol.address(), length: symbol.size(), name, is_exported: symbol.is_global() })
        })
        .collect();
    functions.sort_by_key(|function| function.offset);
    functions
}

fn of_file(anchors: [&Function; 2], functions: &[Function]) -> String {
    let (mut entries, mut names) = (String::new(), String::new());
    for Function { offset, length, name, .. } in functions {
        write!(entries, "({offset}, {length}, {}), ", names.len()).expect("strings take everything");
        names.push_str(name);
        names.push('\n');
    }
    let [first, last] = anchors.map(|anchor| format!("({}, {})", anchor.name, anchor.offset));
    format!("    ObjectFile {{ anchors: [{first}, {last}], functions: &[{entries}], names: {names:?} }},")
}
