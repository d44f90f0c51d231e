//! A source with a call before each statement, for a debugger: QuickJS has none.
//!
//! What is inserted is on the statement's line, so lines stay true; columns are put right again by `Shifts`. The call
//! gets the number of its place, the number of the function's activation, and a function that evaluates a text in the
//! scope of the statement:
//!
//! ```text
//! __onrush_stop(17,__onrush_frame,(__onrush_text)=>eval(__onrush_text));const res = http.get(url)
//! ```
//!
//! A body that is one statement gets braces; that of an arrow function, when it is an expression, a pair of
//! parentheses. Function declarations, imports and types run nothing and get no call.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use oxc_allocator::{Allocator, ArenaVec};
use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, AwaitExpression, Declaration, ExportDefaultDeclarationKind,
    ForOfStatement, Function, FunctionBody, LabeledStatement, Program, Statement, StaticBlock, TSNamespaceDeclaration,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_span::{GetSpan, SourceType, Span};
use oxc_syntax::scope::{ScopeFlags, ScopeId};

use super::site::{Instrumented, Position, Scope, ScopeKind, Shifts, Site};
use super::transpile::on_parser_stack;

/// The native function that is called before a statement.
pub(crate) const STOP: &str = "__onrush_stop";
/// The native function that numbers the activations of functions.
pub(crate) const ENTER: &str = "__onrush_enter";

/// What language a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// An ES module.
    Module,
    /// A CommonJS module.
    CommonJs,
    /// TypeScript, an ES module or not.
    TypeScript,
}

/// Inserts the calls; the first place has the number `first`. `None` when the source cannot be parsed.
pub(crate) fn instrument(text: &str, language: Language, first: usize) -> Option<Instrumented> {
    on_parser_stack(text, || {
        let allocator = Allocator::default();
        let kind = match language {
            Language::Module => SourceType::mjs(),
            Language::CommonJs => SourceType::cjs(),
            Language::TypeScript => SourceType::ts(),
        };
        let parsed = Parser::new(&allocator, text, kind).parse();
        if !parsed.diagnostics.is_empty() || parsed.panicked {
            return None;
        }
        let semantic = SemanticBuilder::new().build(&parsed.program).semantic;
        let mut inserter = Inserter::new(text, semantic.scoping(), first);
        inserter.visit_program(&parsed.program);
        Some(inserter.finish())
    })
}

struct Inserter<'s> {
    text: &'s str,
    line_starts: Vec<usize>,
    scoping: &'s Scoping,
    first: usize,
    /// Offsets and what is inserted there, in the order in which it is to stand.
    edits: Vec<(usize, String)>,
    sites: Vec<Site>,
    /// Scopes around, from the outermost.
    scopes: Vec<(ScopeId, ScopeFlags)>,
    names: HashMap<ScopeId, Arc<[String]>>,
    /// The next statement has its call, or must not have one.
    is_done: bool,
    /// The place of the statement around; none at the beginning of a function.
    current: Option<usize>,
}

impl<'s> Inserter<'s> {
    fn new(text: &'s str, scoping: &'s Scoping, first: usize) -> Self {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Inserter {
            text,
            line_starts,
            scoping,
            first,
            edits: Vec::new(),
            sites: Vec::new(),
            scopes: Vec::new(),
            names: HashMap::new(),
            is_done: false,
            current: None,
        }
    }

    fn finish(mut self) -> Instrumented {
        // Stable: what was inserted first at an offset stays first.
        self.edits.sort_by_key(|(at, _)| *at);
        let (mut code, mut shifts, mut from) = (String::new(), Shifts::default(), 0);
        for (at, inserted) in &self.edits {
            code.push_str(&self.text[from..*at]);
            code.push_str(inserted);
            let Position { line, column } = self.position(*at);
            let bytes = *at - self.line_starts[line as usize - 1];
            shifts.add(line, bytes as u32, column - 1, inserted.len() as u32);
            from = *at;
        }
        code.push_str(&self.text[from..]);
        Instrumented { code, sites: self.sites, shifts }
    }

    fn position(&self, offset: usize) -> Position {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let before = &self.text[self.line_starts[line - 1]..offset];
        Position { line: line as u32, column: before.encode_utf16().count() as u32 + 1 }
    }

    fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.edits.push((at as usize, text.into()));
    }

    /// A place for what is at a span; the call of it.
    fn site(&mut self, span: Span, frame: &str) -> (usize, String) {
        let index = self.sites.len();
        let (start, end) = (self.position(span.start as usize), self.position(span.end as usize));
        let scopes = self.visible();
        self.sites.push(Site { start, end, scopes, awaits: false });
        let number = self.first + index;
        (index, format!("{STOP}({number},{frame},(__onrush_text)=>eval(__onrush_text))"))
    }

    /// The names that can be seen, from the innermost scope outwards.
    fn visible(&mut self) -> Vec<Scope> {
        let (mut scopes, mut kind) = (Vec::new(), ScopeKind::Local);
        let around = self.scopes.clone();
        for (id, flags) in around.iter().rev() {
            let names = self.names_of(*id);
            let is_top = flags.is_top();
            if !names.is_empty() {
                scopes.push(Scope { kind: if is_top { ScopeKind::Module } else { kind }, names });
            }
            if flags.is_function() {
                kind = ScopeKind::Closure;
            }
        }
        scopes
    }

    fn names_of(&mut self, id: ScopeId) -> Arc<[String]> {
        let scoping = self.scoping;
        let names = self.names.entry(id).or_insert_with(|| {
            let values = scoping.iter_bindings_in(id).filter(|symbol| {
                let flags = scoping.symbol_flags(*symbol);
                flags.is_value() || flags.is_import() && !flags.is_type_import()
            });
            let mut values: Vec<_> = values.collect();
            // As they are declared.
            values.sort_unstable();
            values.into_iter().map(|symbol| scoping.symbol_name(symbol).to_owned()).collect()
        });
        Arc::clone(names)
    }

    /// The call before a statement.
    fn before(&mut self, statement: &Statement<'_>) -> usize {
        let (index, call) = self.site(statement.span(), "__onrush_frame");
        self.insert(statement.span().start, format!("{call};"));
        index
    }

    /// Numbers the activation, at the beginning of a function's body, and has a place at its end.
    fn function_body(&mut self, statements: &[Statement<'_>], start: u32, work: impl FnOnce(&mut Self), end: u32) {
        // What stands before may be a directive without a semicolon.
        let begins = if statements.is_empty() { ";" } else { "" };
        self.insert(start, format!("{begins}const __onrush_frame={ENTER}();"));
        work(self);
        let never_ends =
            matches!(statements.last(), Some(Statement::ReturnStatement(_) | Statement::ThrowStatement(_)));
        if !never_ends {
            let (_, call) = self.site(Span::new(end, end + 1), "__onrush_frame");
            self.insert(end, format!(";{call};"));
        }
    }

    /// Does something inside of a function, whose statements are not those around it.
    fn inside(&mut self, work: impl FnOnce(&mut Self)) {
        let outer = (self.current.take(), std::mem::take(&mut self.is_done));
        work(self);
        (self.current, self.is_done) = outer;
    }

    fn note_await(&mut self) {
        if let Some(site) = self.current.and_then(|at| self.sites.get_mut(at)) {
            site.awaits = true;
        }
    }
}

/// Whether a statement of a list runs anything.
fn is_step(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::BlockStatement(_)
        | Statement::EmptyStatement(_)
        | Statement::FunctionDeclaration(_)
        | Statement::ImportDeclaration(_)
        | Statement::ExportAllDeclaration(_)
        | Statement::ExportNamedDeclaration(_)
        | Statement::ExportFromDeclaration(_) => false,
        Statement::TSEnumDeclaration(declaration) => !declaration.declare,
        // An abstract class is there at run time.
        Statement::ClassDeclaration(class) => !class.declare,
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::TSEnumDeclaration(declaration) => !declaration.declare,
            Declaration::ClassDeclaration(class) => !class.declare,
            Declaration::FunctionDeclaration(_) => false,
            declaration => !declaration.is_typescript_syntax(),
        },
        Statement::ExportDefaultDeclaration(export) => !matches!(
            export.declaration,
            ExportDefaultDeclarationKind::FunctionDeclaration(_)
                | ExportDefaultDeclarationKind::TSInterfaceDeclaration(_)
        ),
        statement => !statement.is_typescript_syntax(),
    }
}

impl<'a> Visit<'a> for Inserter<'_> {
    fn enter_scope(&mut self, flags: ScopeFlags, scope_id: &Cell<Option<ScopeId>>) {
        self.scopes.push((scope_id.get().expect("the semantic pass has numbered it"), flags));
    }

    fn leave_scope(&mut self) {
        self.scopes.pop();
    }

    fn visit_program(&mut self, program: &Program<'a>) {
        // Behind the directives, which have to come first.
        if let Some(first) = program.body.first() {
            self.insert(first.span().start, format!("const __onrush_frame={ENTER}();"));
        }
        walk::walk_program(self, program);
    }

    fn visit_statements(&mut self, statements: &ArenaVec<'a, Statement<'a>>) {
        for statement in statements {
            let outer = self.current;
            if is_step(statement) {
                self.current = Some(self.before(statement));
            }
            self.is_done = true;
            self.visit_statement(statement);
            self.current = outer;
        }
    }

    fn visit_statement(&mut self, statement: &Statement<'a>) {
        let is_single = !std::mem::take(&mut self.is_done) && is_step(statement);
        if !is_single {
            return walk::walk_statement(self, statement);
        }
        // The body of a loop, or a branch, without braces.
        let outer = self.current;
        self.insert(statement.span().start, "{");
        self.current = Some(self.before(statement));
        walk::walk_statement(self, statement);
        self.insert(statement.span().end, "}");
        self.current = outer;
    }

    fn visit_labeled_statement(&mut self, labeled: &LabeledStatement<'a>) {
        // A `continue` of this label wants its loop right behind it.
        self.is_done = true;
        self.visit_statement(&labeled.body);
    }

    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        self.inside(|inserter| walk::walk_function(inserter, function, flags));
    }

    fn visit_arrow_function_expression(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        self.inside(|inserter| walk::walk_arrow_function_expression(inserter, arrow));
    }

    fn visit_function_body(&mut self, body: &FunctionBody<'a>) {
        let end = body.span.end - 1;
        let start = body.statements.first().map_or(end, |statement| statement.span().start);
        self.function_body(&body.statements, start, |inserter| walk::walk_function_body(inserter, body), end);
    }

    fn visit_arrow_function_body(&mut self, body: &ArrowFunctionBody<'a>) {
        let ArrowFunctionBody::FunctionBody(body) = body else {
            let span = body.span();
            let (index, call) = self.site(span, "0");
            self.insert(span.start, format!("({call},"));
            self.current = Some(index);
            walk::walk_arrow_function_body(self, body);
            self.insert(span.end, ")");
            return;
        };
        self.visit_function_body(body);
    }

    fn visit_static_block(&mut self, block: &StaticBlock<'a>) {
        let end = block.span.end - 1;
        let start = block.body.first().map_or(end, |statement| statement.span().start);
        self.inside(|inserter| {
            inserter.function_body(&block.body, start, |inserter| walk::walk_static_block(inserter, block), end);
        });
    }

    fn visit_await_expression(&mut self, expression: &AwaitExpression<'a>) {
        self.note_await();
        walk::walk_await_expression(self, expression);
    }

    fn visit_for_of_statement(&mut self, statement: &ForOfStatement<'a>) {
        if statement.r#await {
            self.note_await();
        }
        walk::walk_for_of_statement(self, statement);
    }

    /// A namespace becomes a function of the transformer's own making: nothing is inserted there.
    fn visit_ts_namespace_declaration(&mut self, _: &TSNamespaceDeclaration<'a>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code without what was inserted.
    fn stripped(code: &str) -> String {
        let enter = r"const __onrush_frame=__onrush_enter\(\);";
        let stop = r";?__onrush_stop\(\d+,\w+,\(__onrush_text\)=>eval\(__onrush_text\)\)[;,]";
        let calls = regex_lite::Regex::new(&format!("{enter}|{stop}")).expect("an expression");
        calls.replace_all(code, "").into_owned()
    }

    fn instrumented(text: &str, language: Language) -> Instrumented {
        let made = instrument(text, language, 100).unwrap_or_else(|| panic!("cannot read {text}"));
        assert!(instrument(&made.code, language, 0).is_some(), "cannot be read any more: {}", made.code);
        assert_eq!(made.code.lines().count(), text.lines().count());
        made
    }

    #[test]
    fn each_statement_has_a_place_and_the_text_stays() {
        let rows = [
            (Language::Module, "import a from 'k6'\nexport { a }\nfunction f() { return 1 }\nf()", 2),
            (Language::Module, "'use strict'\n// c\nlet x = 1\n;[1, 2].map((y) => y + 1) // d", 3),
            (Language::Module, "export default async () => { await 1\n}\nexport const b = 2", 4),
            (Language::Module, "l: for (;;) { do x(); while (y) z()\ncontinue l }", 5),
            (Language::Module, "class A extends B { static { a } constructor() { super() } get b() { return 1 } }", 6),
            (Language::Module, "switch (a) { case 1: b; c\ndefault: d }", 4),
            (Language::Module, "try { a } catch { b } finally { c }", 4),
            (Language::Module, "const f = ({ a }) => ({ a })\nconst g = () => () => 1", 5),
            (Language::Module, "function* g() { yield 1 }", 2),
            (Language::CommonJs, "function h() { 'use strict' }\nfunction i() {}", 2),
            (Language::CommonJs, "#!/usr/bin/env onrush\nif (a) b\nelse if (c) d\nelse return", 5),
            (Language::CommonJs, "with (a) b\nfor (const c in d);", 3),
            (
                Language::TypeScript,
                "type A = 1\ninterface B {}\ndeclare const c: A\nenum D { E }\nexport type { A }",
                1,
            ),
            (Language::TypeScript, "namespace N { export const a = 1 }\nabstract class C { abstract d(): void }", 1),
            (Language::TypeScript, "export const f = <T,>(a: T): a is T => a as T\nfunction g(b: number): void", 2),
        ];
        for (language, text, places) in rows {
            let made = instrumented(text, language);
            let starts: Vec<_> = made.sites.iter().map(|site| site.start).collect();
            assert_eq!(made.sites.len(), places, "{text}: {starts:?}");
            // Bodies get braces, and the end of a function a semicolon.
            let bare = |text: &str| text.replace(['{', '}', '(', ')', ';'], "");
            assert_eq!(bare(&stripped(&made.code)), bare(text));
        }
        assert!(instrument("let = ;", Language::Module, 0).is_none());
    }

    #[test]
    fn statements_see_values_from_the_inside_out() {
        let text = "import { a, type B } from './c'\ntype D = 1\nexport default (e: D) => {\n  let f = 1\n  \
                    { const e = 2; g(() => { h }) }\n}\nfunction g(x: any) {}\n";
        let made = instrumented(text, Language::TypeScript);
        let at = |line, column| {
            let found = made.sites.iter().find(|site| site.start == Position { line, column });
            found.unwrap_or_else(|| panic!("no place {line}:{column}"))
        };
        let names = |site: &Site| {
            [ScopeKind::Local, ScopeKind::Closure, ScopeKind::Module].map(|kind| site.names(kind).join(","))
        };
        assert_eq!(names(at(4, 3)), ["e,f", "", "a,g"]);
        assert_eq!(names(at(5, 18)), ["e,f", "", "a,g"]);
        assert_eq!(names(at(5, 28)), ["", "e,f", "a,g"]);
        let first = made.sites.iter().position(|site| site.start.line == 4).expect("a place");
        assert!(made.code.contains(&format!("__onrush_stop({},__onrush_frame", 100 + first)));
    }

    #[test]
    fn only_the_statement_itself_awaits() {
        let text = "async function f() {\n  await a\n  if (b) await c\n  g(async () => await d)\n  \
                    for await (const e of h);\n}";
        let awaits = instrumented(text, Language::Module).sites.into_iter().filter(|site| site.awaits);
        let awaits: Vec<_> = awaits.map(|site| (site.start.line, site.start.column)).collect();
        assert_eq!(awaits, [(2, 3), (3, 10), (4, 17), (5, 3)]);
    }
}
