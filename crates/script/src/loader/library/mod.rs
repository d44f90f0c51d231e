//! k6's FormData library within a module of the script's own: found by its parsed form, replaced by the native class.
//!
//! Many test suites carry a copy of the library, on its own or inside a bundle. Its signature is a hash of the syntax
//! tree: white space, comments, quotes, semicolons, the names of local variables and of the class, and what is around
//! the class do not count. Whatever changes behaviour does: another operator, another literal, a method more, a global
//! name that the module has redefined. Only known signatures are replaced; lines of the module keep their numbers.
//!
//! A module without such a class may have one that does the same in other words: minified, a class of today, one method
//! more. There `body()` alone is replaced (`assembly.rs`).

mod assembly;
mod form;
mod lower;
mod normal;
mod term;

use std::fmt::Write;

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{SourceType, Span};

use self::assembly::assemblies;
use self::form::{Export, LibraryForm, forms, signature, start_of};
use crate::builtins::LibraryText;
use crate::sources::source_kind::SourceKind;

/// Every text of the library writes this; what has it not is not parsed a second time.
const MARK: &str = "form-data; name=";
/// Classes looked at in one module.
const MOST: usize = 4;

/// The module with its copies of the library replaced, and which they were; `None` when it has none that is known.
pub fn replace(code: &str, kind: SourceKind, known: &[LibraryText]) -> Option<(String, Vec<LibraryText>)> {
    if !code.contains(MARK) {
        return None;
    }
    whole_classes(code, kind, known).or_else(|| assembled_natively(code, kind, known))
}

/// With native classes in the place of those whose text is known.
fn whole_classes(code: &str, kind: SourceKind, known: &[LibraryText]) -> Option<(String, Vec<LibraryText>)> {
    let mut edits = Vec::new();
    let mut found = Vec::new();
    for class in classes(code, kind) {
        let Some(known) = known.iter().find(|known| known.signature == class.signature) else { continue };
        class.form.replace_with(&format!("{OURS}{}", found.len()), code, &mut edits);
        found.push(*known);
    }
    // Used elsewhere, the library's inner workings have to be there.
    let rest = edited(code, edits);
    if found.is_empty() || rest.contains("__toByteArray") {
        return None;
    }
    Some((with_imports(&rest, kind, &found), found))
}

/// With native work in the methods that put a form together as the library does.
fn assembled_natively(code: &str, kind: SourceKind, known: &[LibraryText]) -> Option<(String, Vec<LibraryText>)> {
    let mut edits = Vec::new();
    let mut found = Vec::new();
    for form in assemblies(code, kind) {
        let Some(known) = known.iter().find(|known| known.signature == form.signature) else { continue };
        let native = form.native(&format!("{OURS}{}", found.len()));
        edits.push((form.body, [native, lines(code, form.body)].concat()));
        found.push(*known);
    }
    (!found.is_empty()).then(|| (with_imports(&edited(code, edits), kind, &found), found))
}

/// The signature of each class that may be the library's, by the class's name.
pub fn signatures(code: &str, kind: SourceKind) -> Vec<(String, String)> {
    classes(code, kind).into_iter().map(|class| (class.form.name, class.signature)).collect()
}

/// The signature of each method that may be the library's `body`, by what it does.
pub fn assembly_signatures(code: &str, kind: SourceKind) -> Vec<String> {
    if !code.contains(MARK) {
        return Vec::new();
    }
    assemblies(code, kind).into_iter().map(|form| form.signature).collect()
}

/// What the native class is called in a module.
const OURS: &str = "__onrushFormData";

fn with_imports(code: &str, kind: SourceKind, found: &[LibraryText]) -> String {
    let mut imports = String::new();
    for (number, LibraryText { module, .. }) in found.iter().enumerate() {
        match kind {
            SourceKind::EsModule => write!(imports, "\n;import{{FormData as {OURS}{number}}}from\"{module}\";"),
            SourceKind::CommonJs => write!(imports, "var {OURS}{number}=require(\"{module}\").FormData;"),
        }
        .expect("a String takes all");
    }
    match kind {
        // Imports come first wherever they stand.
        SourceKind::EsModule => [code, &imports].concat(),
        SourceKind::CommonJs => {
            let at = parsed(&Allocator::default(), code, kind, |program| start_of(&program.directives, &program.body));
            let (before, after) = code.split_at(at.unwrap_or_default() as usize);
            [before, ";", &imports, after].concat()
        }
    }
}

struct Class {
    form: LibraryForm,
    signature: String,
}

fn classes(code: &str, kind: SourceKind) -> Vec<Class> {
    if !code.contains(MARK) || !code.contains(".prototype") {
        return Vec::new();
    }
    let signed = forms(code, kind).into_iter().take(MOST).filter_map(|form| {
        let signature = signature(code, kind, &form)?;
        Some(Class { form, signature })
    });
    signed.collect()
}

/// Looks at the syntax tree of a module that is known to parse.
fn parsed<R>(allocator: &Allocator, code: &str, kind: SourceKind, look: impl FnOnce(&Program<'_>) -> R) -> Option<R> {
    let source_type = if kind == SourceKind::EsModule { SourceType::mjs() } else { SourceType::cjs() };
    // Parentheses that change nothing are no part of the form.
    let options = ParseOptions { preserve_parens: false, ..ParseOptions::default() };
    let parsed = Parser::new(allocator, code, source_type).with_options(options).parse();
    (parsed.diagnostics.is_empty() && !parsed.panicked).then(|| look(&parsed.program))
}

impl LibraryForm {
    /// Replaces the function and its methods by a variable with the native class.
    fn replace_with(&self, native: &str, code: &str, edits: &mut Vec<(Span, String)>) {
        let LibraryForm { name, declaration, list_start, .. } = self;
        let export = match self.export {
            None => String::new(),
            Some(Export::Named) => format!("export{{{name}}};"),
            Some(Export::Default) => format!("export default {name};"),
        };
        edits.push((Span::new(*list_start, *list_start), format!(";var {name}={native};")));
        edits.push((*declaration, [";", &export, &lines(code, *declaration)].concat()));
        for (_, _, statement) in &self.methods {
            edits.push((*statement, [";", &lines(code, *statement)].concat()));
        }
    }
}

/// The line breaks of a part of the code.
fn lines(code: &str, span: Span) -> String {
    code[span_range(span)].chars().filter(|character| *character == '\n').collect()
}

fn span_range(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

fn edited(code: &str, mut edits: Vec<(Span, String)>) -> String {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let (mut out, mut at) = (String::with_capacity(code.len()), 0);
    for (span, text) in edits {
        let std::ops::Range { start, end } = span_range(span);
        out.push_str(&code[at..start]);
        out.push_str(&text);
        at = end;
    }
    out.push_str(&code[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A class in the manner of the library, not its text.
    const CLASS: &str = "function Parts() { if (!(this instanceof Parts)) return new Parts(); this.all = []; }
        Parts.prototype.append = function(name, value) { this.all.push([name, value]); };
        Parts.prototype.body = function() {
            var out = '';
            for (var i = 0; i < this.all.length; i++) out += 'form-data; name=\"' + this.all[i][0] + '\"' + Math.PI;
            return new Uint8Array(out.length & 0xff).buffer;
        };";

    fn signature_of(code: &str, kind: SourceKind) -> String {
        let found = signatures(code, kind);
        assert_eq!(found.len(), 1, "{code}");
        found[0].1.clone()
    }

    fn common(code: &str) -> String {
        signature_of(code, SourceKind::CommonJs)
    }

    #[test]
    fn what_changes_nothing_does_not_count() {
        let plain = common(CLASS);
        assert_eq!(plain.len(), 32);
        // A new version of the parser's crates must not change what is written down of real texts.
        assert_eq!(plain, "b0f9a569757db23f6482855fbf56cca7");
        let spread = CLASS.replace(") ", ")  ").replace("{ ", "{\n// note\n").replace("0xff", "255");
        let (methods, rest) = CLASS.split_once("Parts.prototype.body").expect("it has one");
        let swapped = format!("Parts.prototype.body{rest}\n{methods}");
        let renamed = CLASS.replace("Parts", "T").replace("value", "v").replace("out", "text");
        let wrapped = format!("(function(exports) {{ 'use strict'; exports.F = Parts; {CLASS} }})(this);");
        let bundled = format!("const modules = {{ 17: (e, t) => {{ let x = 1; t.F = Parts; {CLASS} return x }} }};");
        let double = CLASS.replace("''", "\"\"").replace("(this instanceof Parts)", "((this) instanceof (Parts))");
        for other in [spread, swapped, renamed, wrapped, bundled, double] {
            assert_eq!(common(&other), plain, "{other}");
        }
        for module in
            [format!("{CLASS}\nexport {{ Parts }};"), format!("export {CLASS}"), format!("export default {CLASS}")]
        {
            assert_eq!(signature_of(&module, SourceKind::EsModule), plain, "{module}");
        }
    }

    #[test]
    fn what_changes_behaviour_counts() {
        let plain = common(CLASS);
        for (from, to) in [
            ("i = 0", "i = 1"),
            ("i < this", "i <= this"),
            ("!(this instanceof Parts)", "(this instanceof Parts)"),
            ("'form-data; name=\"'", "'form-data; name='"),
            (".buffer", ""),
            ("append = function(name, value)", "append = function(value, name)"),
            ("append = function", "append = async function"),
            ("prototype.append", "prototype.add"),
            ("function Parts", "Parts.prototype.more = function() {};\nfunction Parts"),
            ("function Parts", "var Uint8Array = Array;\nfunction Parts"),
            ("function Parts", "function Math() {}\nfunction Parts"),
        ] {
            let other = CLASS.replacen(from, to, 1);
            assert_ne!(other, CLASS);
            assert_ne!(common(&other), plain, "{other}");
        }
    }

    #[test]
    fn the_class_is_replaced_and_lines_stay() {
        let known =
            |code| LibraryText { signature: Box::leak(common(code).into_boxed_str()), version: "1", module: "m" };
        let known = [known(CLASS)];
        let code = format!("'use strict'\nexports.F = Parts;\n{CLASS}\nlast();");
        let (replaced, found) = replace(&code, SourceKind::CommonJs, &known).expect("it is known");
        assert_eq!(found, known);
        assert_eq!(
            replaced,
            "'use strict';;var __onrushFormData0=require(\"m\").FormData;var Parts=__onrushFormData0;\nexports.F = \
             Parts;\n;\n        ;\n        ;\n\n\n\n\nlast();"
        );
        assert_eq!(replaced.lines().count(), code.lines().count());
        let (replaced, _) = replace(&format!("export {CLASS}"), SourceKind::EsModule, &known).expect("it is known");
        assert!(replaced.starts_with(";var Parts=__onrushFormData0;;export{Parts};\n"), "{replaced}");
        assert!(replaced.ends_with("\n;import{FormData as __onrushFormData0}from\"m\";"), "{replaced}");
        for unknown in [&CLASS.replace("0xff", "0x7f"), "exports.F = 1", &format!("{CLASS} x.__toByteArray();")] {
            assert!(replace(unknown, SourceKind::CommonJs, &known).is_none(), "{unknown}");
        }
    }
}
