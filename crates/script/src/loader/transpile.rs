//! TypeScript to JavaScript, and what a source is: an ES module or CommonJS.
//!
//! Types are stripped, nothing is checked and nothing is lowered: QuickJS runs what the author wrote. JavaScript goes
//! through untouched, byte for byte, but for copies of k6's FormData library; it is only parsed to learn its kind.

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_parser::{Parser, ParserReturn};
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_syntax::module_record::{ExportImportName, ImportImportName, ModuleRecord};
use oxc_transformer::{TransformOptions, Transformer};

use super::library;
use super::nesting;
use crate::builtins::LibraryText;
use crate::error::{Place, ScriptError, exit_code};
use crate::sources::source_kind::SourceKind;

/// JavaScript, and how to get from its places to those of the source.
pub struct Output {
    /// How the module is run.
    pub kind: SourceKind,
    /// The code.
    pub code: String,
    /// `None`: places in the code are those of the source.
    pub map: Option<PositionMap>,
    /// The copies of k6's FormData library that were replaced.
    pub libraries: Vec<LibraryText>,
    /// Names that it imports, each with the specifier it is imported from.
    pub imports: Vec<(String, String)>,
}

impl Output {
    /// With known copies of k6's FormData library replaced.
    fn without_libraries(mut self, known: &[LibraryText]) -> Output {
        if let Some((code, found)) = library::replace(&self.code, self.kind, known) {
            (self.code, self.libraries) = (code, found);
        }
        self
    }
}

/// Places of generated code and where they come from, in order of the generated ones.
#[derive(Debug, Default)]
pub struct PositionMap {
    /// Generated line and column, original line and column; all counted from 0, columns in UTF-16 units.
    tokens: Vec<((u32, u32), (u32, u32))>,
}

impl PositionMap {
    /// The original of the known place before a place, counted from 1, and how many columns are in between; `None`
    /// when no part of the source was there.
    pub fn original(&self, line: u32, column: u32) -> Option<((u32, u32), u32)> {
        let wanted = (line.checked_sub(1)?, column.saturating_sub(1));
        let after = self.tokens.partition_point(|(generated, _)| *generated <= wanted);
        let ((generated_line, generated_column), (line, column)) = self.tokens.get(after.checked_sub(1)?)?;
        (*generated_line == wanted.0).then(|| ((line + 1, column + 1), wanted.1 - generated_column))
    }
}

/// Stack that the parser uses at most for a byte of source: a level of nested type arguments, tried in several ways,
/// takes 10 KiB and is two bytes long.
const STACK_A_BYTE: usize = 10 << 10;
const LEAST_STACK: usize = 8 << 20;
/// Address space only: pages are used when they are touched.
const MOST_STACK: usize = 1 << 30;

/// Makes a source ready for QuickJS. `.ts` names are TypeScript; others only when they do not parse as JavaScript.
///
/// The parser calls itself for each level of a source and has no limit of its own. Brackets have the limit of
/// `nesting`; for the rest it works on a stack of its own that is deep enough for all but the strangest texts: a stack
/// that is too small ends the process without a word.
pub fn to_javascript(name: &str, text: &str, known: &[LibraryText]) -> Result<Output, ScriptError> {
    nesting::check(name, text)?;
    on_parser_stack(text, || transpiled(name, text).map(|output| output.without_libraries(known)))
}

/// Works with a parser on a text that `nesting` has let pass, on a stack that is deep enough for it.
pub(crate) fn on_parser_stack<T: Send>(text: &str, work: impl Fn() -> T + Sync) -> T {
    let stack = text.len().saturating_mul(STACK_A_BYTE).clamp(LEAST_STACK, MOST_STACK);
    std::thread::scope(|scope| {
        match std::thread::Builder::new().name("parser".into()).stack_size(stack).spawn_scoped(scope, &work) {
            Ok(parser) => parser.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // No room for such a stack: that of this thread is enough for what people write.
            Err(_) => work(),
        }
    })
}

fn transpiled(name: &str, text: &str) -> Result<Output, ScriptError> {
    if is_typescript_name(name) {
        return strip_types(name, text);
    }
    let allocator = Allocator::default();
    let module = Parser::new(&allocator, text, SourceType::mjs()).parse();
    if is_clean(&module) {
        let kind = if module.module_record.has_module_syntax || has_top_level_await(text) {
            SourceKind::EsModule
        } else {
            SourceKind::CommonJs
        };
        let imports = imports(&module.module_record);
        return Ok(Output { kind, code: text.to_string(), map: None, libraries: Vec::new(), imports });
    }
    let script = Parser::new(&allocator, text, SourceType::cjs()).parse();
    if is_clean(&script) {
        let (code, libraries) = (text.to_string(), Vec::new());
        return Ok(Output { kind: SourceKind::CommonJs, code, map: None, libraries, imports: Vec::new() });
    }
    let plain_name = !name.starts_with("file://") || name.ends_with("/-");
    if plain_name && let Ok(output) = strip_types(name, text) {
        return Ok(output);
    }
    Err(syntax_error(name, text, &module))
}

/// Path without query ends in `.ts`.
pub(crate) fn is_typescript_name(name: &str) -> bool {
    let path = name.split(['?', '#']).next().unwrap_or(name);
    path.ends_with(".ts") || path.ends_with(".mts") || path.ends_with(".cts")
}

/// `await` outside functions makes a module even without import and export.
fn has_top_level_await(text: &str) -> bool {
    if !text.contains("await") {
        return false;
    }
    let allocator = Allocator::default();
    !is_clean(&Parser::new(&allocator, text, SourceType::cjs()).parse())
}

fn is_clean(parsed: &ParserReturn<'_>) -> bool {
    parsed.diagnostics.is_empty() && !parsed.panicked
}

fn strip_types(name: &str, text: &str) -> Result<Output, ScriptError> {
    let allocator = Allocator::default();
    let mut parsed = Parser::new(&allocator, text, SourceType::ts()).parse();
    if !is_clean(&parsed) {
        return Err(syntax_error(name, text, &parsed));
    }
    let kind = if parsed.module_record.has_module_syntax || has_top_level_await(text) {
        SourceKind::EsModule
    } else {
        SourceKind::CommonJs
    };
    let scoping = SemanticBuilder::new().with_enum_eval(true).build(&parsed.program).semantic.into_scoping();
    let options = TransformOptions::default();
    Transformer::new(&allocator, std::path::Path::new(name), &options).build_with_scoping(scoping, &mut parsed.program);
    let options = CodegenOptions { source_map_path: Some(name.into()), ..CodegenOptions::default() };
    let output = Codegen::new().with_options(options).with_source_text(text).build(&parsed.program);
    let map = output.map.map(|map| PositionMap {
        tokens: map
            .get_tokens()
            .map(|t| ((t.get_dst_line(), t.get_dst_col()), (t.get_src_line(), t.get_src_col())))
            .collect(),
    });
    let imports = imports(&parsed.module_record);
    Ok(Output { kind, code: output.code, map, libraries: Vec::new(), imports })
}

/// Stands for all names of a module: `import * as all`.
pub const ALL_NAMES: &str = "*";

/// What a module imports or exports further by name, but for types.
fn imports(record: &ModuleRecord<'_>) -> Vec<(String, String)> {
    let imported = record.import_entries.iter().filter(|entry| !entry.is_type).filter_map(|entry| {
        let name = match &entry.import_name {
            ImportImportName::Name(name) => name.name.to_string(),
            ImportImportName::NamespaceObject => String::from(ALL_NAMES),
            ImportImportName::Default(_) => return None,
        };
        Some((entry.module_request.name.to_string(), name))
    });
    let further = record.indirect_export_entries.iter().chain(record.star_export_entries.iter());
    let further = further.filter(|entry| !entry.is_type).filter_map(|entry| {
        let name = match &entry.import_name {
            ExportImportName::Name(name) => name.name.to_string(),
            ExportImportName::All | ExportImportName::AllButDefault => String::from(ALL_NAMES),
            ExportImportName::Null => return None,
        };
        Some((entry.module_request.as_ref()?.name.to_string(), name))
    });
    imported.chain(further).collect()
}

fn syntax_error(name: &str, text: &str, parsed: &ParserReturn<'_>) -> ScriptError {
    let Some(diagnostic) = parsed.diagnostics.iter().next() else {
        return ScriptError::new(format!("SyntaxError: {name} cannot be parsed"), exit_code::SCRIPT_EXCEPTION);
    };
    let offset = diagnostic.labels.first().map_or(0, |label| label.offset());
    let place = Place::of_offset(name, text, offset as usize);
    let message = format!("SyntaxError: {}", diagnostic.message);
    ScriptError { message, place: Some(place), stack: String::new(), exit_code: exit_code::SCRIPT_EXCEPTION }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these would need more stack than a thread has.
    #[test]
    fn a_place_on_a_line_without_a_known_one_has_no_original() {
        let map = PositionMap { tokens: vec![((0, 10), (3, 2))] };
        assert_eq!(map.original(1, 13), Some(((4, 3), 2)));
        assert_eq!((map.original(2, 1), map.original(1, 5)), (None, None));
    }

    #[test]
    fn deep_sources_are_read_or_refused() {
        let nested = |open: &str, middle: &str, close: &str| [&open.repeat(3000), middle, &close.repeat(3000)].concat();
        for (name, text) in [
            ("x.js", nested("[", "", "]")),
            ("x.ts", nested("[", "", "]")),
            ("x.ts", format!("let a: {}", nested("A<", "B", ">"))),
            ("x.js", format!("f({}1)", "1 + ".repeat(3000))),
        ] {
            assert!(to_javascript(name, &text, &[]).is_ok(), "{name} {}", &text[..20]);
        }
        let open = to_javascript("x.ts", &"mise<".repeat(800), &[]);
        assert!(open.is_err_and(|error| error.message.starts_with("SyntaxError: ")));
    }
}
