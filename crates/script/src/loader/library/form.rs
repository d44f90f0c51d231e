//! Classes of the old kind in a syntax tree: where they are, and the hash of their form.

use data_encoding::HEXLOWER;
use oxc_allocator::{Allocator, Vec as ArenaVec};
use oxc_ast::ast::{
    AssignmentOperator, AssignmentTarget, Declaration, Directive, ExportDefaultDeclarationKind, Expression, Function,
    FunctionBody, Program, Statement, StaticMemberExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_codegen::{Codegen, CodegenOptions, Context, Gen};
use oxc_semantic::{ScopeFlags, Scoping, SemanticBuilder, SymbolId};
use oxc_span::{GetSpan, Span};
use sha2::{Digest, Sha256};

use super::{MARK, parsed, span_range};
use crate::sources::source_kind::SourceKind;

/// A class of the old kind: a function, and functions assigned to its prototype beside it.
#[derive(Debug)]
pub(super) struct LibraryForm {
    pub name: String,
    symbol: SymbolId,
    /// Of the function.
    constructor: Span,
    /// Of the statement that declares it.
    pub declaration: Span,
    pub export: Option<Export>,
    /// Where the list of statements begins that it is in.
    pub list_start: u32,
    /// Name, function, statement.
    pub methods: Vec<(String, Span, Span)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Export {
    Named,
    Default,
}

/// The classes of a module that may be the library's.
pub(super) fn forms(code: &str, kind: SourceKind) -> Vec<LibraryForm> {
    let allocator = Allocator::default();
    let found = parsed(&allocator, code, kind, |program| {
        let _symbols = SemanticBuilder::new().build(program);
        let mut finder = Finder { code, forms: Vec::new() };
        finder.visit_program(program);
        finder.forms
    });
    found.unwrap_or_default()
}

/// Where the first statement behind the directives may be put.
pub(super) fn start_of(directives: &[Directive<'_>], statements: &[Statement<'_>]) -> u32 {
    let behind = directives.last().map(|directive| directive.span.end);
    behind.or_else(|| statements.first().map(|statement| statement.span().start)).unwrap_or_default()
}

/// Finds classes in the lists of statements of a module and its functions.
struct Finder<'s> {
    code: &'s str,
    forms: Vec<LibraryForm>,
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_program(&mut self, it: &Program<'a>) {
        self.look(start_of(&it.directives, &it.body), &it.body);
        walk::walk_program(self, it);
    }

    fn visit_function_body(&mut self, it: &FunctionBody<'a>) {
        self.look(start_of(&it.directives, &it.statements), &it.statements);
        walk::walk_function_body(self, it);
    }
}

impl Finder<'_> {
    fn look(&mut self, list_start: u32, statements: &ArenaVec<'_, Statement<'_>>) {
        let methods: Vec<_> = statements.iter().filter_map(method_of).collect();
        if !methods.iter().any(|method| self.code[span_range(method.function)].contains(MARK)) {
            return;
        }
        for statement in statements {
            let Some((function, export)) = declared(statement) else { continue };
            let Some(id) = &function.id else { continue };
            let own = methods.iter().filter(|method| method.class == id.name.as_str());
            let own: Vec<_> = own.map(|m| (m.name.to_owned(), m.function, m.statement)).collect();
            if own.is_empty() {
                continue;
            }
            let Some(symbol) = id.symbol_id.get() else { continue };
            self.forms.push(LibraryForm {
                name: id.name.to_string(),
                symbol,
                constructor: function.span,
                declaration: statement.span(),
                export,
                list_start,
                methods: own,
            });
        }
    }
}

/// `Class.prototype.name = function …`.
struct Method<'t> {
    class: &'t str,
    name: &'t str,
    function: Span,
    statement: Span,
}

fn method_of<'t>(statement: &'t Statement<'_>) -> Option<Method<'t>> {
    let Statement::ExpressionStatement(expression) = statement else { return None };
    let Expression::AssignmentExpression(assignment) = &expression.expression else { return None };
    let AssignmentTarget::StaticMemberExpression(target) = &assignment.left else { return None };
    let Expression::FunctionExpression(function) = &assignment.right else { return None };
    let StaticMemberExpression { object: Expression::StaticMemberExpression(prototype), property, .. } = &**target
    else {
        return None;
    };
    let Expression::Identifier(class) = &prototype.object else { return None };
    let plain = assignment.operator == AssignmentOperator::Assign && prototype.property.name == "prototype";
    plain.then(|| Method {
        class: class.name.as_str(),
        name: property.name.as_str(),
        function: function.span,
        statement: statement.span(),
    })
}

/// The function that a statement declares.
fn declared<'t, 'a>(statement: &'t Statement<'a>) -> Option<(&'t Function<'a>, Option<Export>)> {
    match statement {
        Statement::FunctionDeclaration(function) => Some((function, None)),
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::FunctionDeclaration(function) => Some((function, Some(Export::Named))),
            _ => None,
        },
        Statement::ExportDefaultDeclaration(export) => match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => Some((function, Some(Export::Default))),
            _ => None,
        },
        _ => None,
    }
}

/// The hash of the constructor and, by their names, the methods.
pub(super) fn signature(code: &str, kind: SourceKind, form: &LibraryForm) -> Option<String> {
    let allocator = Allocator::default();
    let printed = parsed(&allocator, code, kind, |program| {
        let mut scoping = SemanticBuilder::new().build(program).semantic.into_scoping();
        let mut spans = vec![form.constructor];
        spans.extend(form.methods.iter().map(|(_, function, _)| *function));
        rename(&mut scoping, form.symbol, &spans);
        let codegen = Codegen::new().with_options(CodegenOptions::minify()).with_scoping(Some(scoping));
        let mut printer = TreePrinter { spans: &spans, codegen };
        printer.visit_program(program);
        printer.codegen.into_source_text()
    })?;
    // The pieces come in the order of the text, each behind its number.
    let mut pieces: Vec<(&str, &str)> = Vec::new();
    for piece in printed.split('\0').skip(1) {
        let (number, text) = piece.split_once(' ')?;
        let number: usize = number.parse().ok()?;
        let name = number.checked_sub(1).map_or("", |method| form.methods[method].0.as_str());
        pieces.push((name, text.trim_end()));
    }
    pieces.sort_unstable();
    let mut hash = Sha256::new();
    for (name, text) in pieces {
        hash.update(format!("{name} {} {text}\n", text.len()));
    }
    // Half of it is plenty among a handful of texts.
    Some(HEXLOWER.encode(&hash.finalize()[..16]))
}

/// Gives names that depend on the form alone: to the class, and to what is declared within each of the functions. What
/// they use of the module around them, other than globals, is named so that it cannot be taken for a global.
fn rename(scoping: &mut Scoping, class: SymbolId, functions: &[Span]) {
    let mut counts = vec![0; functions.len()];
    let symbols: Vec<SymbolId> = scoping.symbol_ids().collect();
    for symbol in symbols {
        let span = scoping.symbol_span(symbol);
        let within = functions.iter().position(|function| function.start <= span.start && span.end <= function.end);
        let name = match within {
            _ if symbol == class => String::from("Form"),
            Some(function) => {
                counts[function] += 1;
                format!("v{}", counts[function])
            }
            None => String::from("outer"),
        };
        scoping.set_symbol_name(symbol, name.as_str().into());
    }
}

/// Prints the wanted functions, each behind a zero byte and its number.
struct TreePrinter<'c, 'a> {
    spans: &'c [Span],
    codegen: Codegen<'a>,
}

impl<'a> Visit<'a> for TreePrinter<'_, '_> {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        match self.spans.iter().position(|span| *span == it.span) {
            Some(number) => {
                self.codegen.print_str(&format!("\0{number} "));
                it.print(&mut self.codegen, Context::default());
            }
            None => walk::walk_function(self, it, flags),
        }
    }
}
