//! Every built-in module is whole: declarations that parse, a behaviour test, and the same names in code and types.

#![allow(clippy::unwrap_used)]

mod driver;

use std::collections::BTreeSet;

use driver::folder;
use onrush_modules::BUILTINS;

/// The names of values that a declaration file exports; types are not names one can import at run time.
fn declared(types: &str) -> BTreeSet<String> {
    let all_of = types.lines().filter_map(|line| line.strip_prefix("export * from \"")?.strip_suffix("\";"));
    let all_of = all_of.filter_map(|path| BUILTINS.find(path)).flat_map(|module| declared(module.types));
    let keywords = ["function", "const", "let", "class", "namespace", "enum"];
    let exported = types.lines().filter_map(|line| line.trim().strip_prefix("export "));
    exported
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip_while(|word| *word == "declare");
            let keyword = words.next()?;
            let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next()?;
            keywords.contains(&keyword).then(|| name.to_owned())
        })
        .chain(all_of)
        .collect()
}

#[test]
fn names_of_code_and_types_agree() {
    for module in BUILTINS.modules() {
        let exports: BTreeSet<String> = module.exports.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(exports, declared(module.types), "exports of {} (left) and its types.d.ts (right)", module.name);
        assert_eq!(exports.len(), module.exports.len(), "{} lists an export twice", module.name);
    }
}

#[test]
fn declarations_parse() {
    for module in BUILTINS.modules() {
        let allocator = oxc_allocator::Allocator::default();
        let kind = oxc_span::SourceType::d_ts();
        let parsed = oxc_parser::Parser::new(&allocator, module.types, kind).parse();
        assert!(parsed.diagnostics.is_empty(), "{}: {:?}", module.name, parsed.diagnostics);
    }
}

#[test]
fn each_module_has_its_files() {
    let mut names = BTreeSet::new();
    for module in BUILTINS.modules() {
        assert!(names.insert(module.name), "{} is listed twice", module.name);
        for file in ["types.d.ts", "test.js"] {
            let path = folder(module.name).join(file);
            assert!(path.is_file(), "{} has no {}", module.name, path.display());
        }
        assert!(module.types.starts_with("/**"), "types.d.ts of {} does not say what the module is for", module.name);
    }
}

#[test]
fn declared_sees_values_only() {
    let types = "export function a(): void;\nexport const B: { new (): B };\nexport interface C {}\n\
                 export declare class D {}\nexport type E = 1;\nexport default a;\n  export namespace f {}";
    let expected = ["B", "D", "a", "f"].map(str::to_owned);
    assert_eq!(declared(types), BTreeSet::from(expected));
    assert!(declared("export * from \"k6/timers\";").contains("setTimeout"));
}
