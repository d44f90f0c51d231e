//! What is called at a place of the code: QuickJS says "not a function" and asks for the name.

use oxc_allocator::Allocator;
use oxc_ast::ast::{CallExpression, Expression, NewExpression, TaggedTemplateExpression};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::{GetSpan, SourceType};

use super::transpile::on_parser_stack;

/// Bytes of a name at most; of what is longer, or on several lines, the last part is told.
const LONGEST: usize = 60;

/// What is called at a place, which is the opening bracket (or template) of a call, or the word `new`. Line and column
/// (of a byte) from 1. `None` when there is no call.
pub(super) fn at(code: &str, line: u32, column: u32) -> Option<String> {
    let line_start: usize = code.split_inclusive('\n').take(line.checked_sub(1)? as usize).map(str::len).sum();
    let wanted = line_start + column.checked_sub(1)? as usize;
    on_parser_stack(code, || {
        [SourceType::mjs(), SourceType::cjs()].into_iter().find_map(|kind| {
            let allocator = Allocator::default();
            let parsed = Parser::new(&allocator, code, kind).parse();
            let mut finder = CalleeFinder { code, wanted, found: None };
            finder.visit_program(&parsed.program);
            finder.found
        })
    })
}

struct CalleeFinder<'s> {
    code: &'s str,
    wanted: usize,
    found: Option<String>,
}

impl CalleeFinder<'_> {
    fn offer(&mut self, place: usize, callee: &Expression<'_>) {
        if place == self.wanted {
            let span = callee.span();
            let text = self.code.get(span.start as usize..span.end as usize).unwrap_or_default();
            let is_short = text.len() <= LONGEST && !text.contains('\n');
            self.found = Some(match callee {
                _ if is_short => text.to_string(),
                Expression::StaticMemberExpression(member) if member.property.name.len() <= LONGEST => {
                    format!("(…).{}", member.property.name)
                }
                _ => "(…)".to_string(),
            });
        }
    }

    /// The bracket behind a callee; there may be a comment, with a bracket or without, in between.
    fn bracket(&self, callee: &Expression<'_>) -> usize {
        let mut at = callee.span().end as usize;
        while let Some(rest) = self.code.get(at..) {
            let blank = rest.len() - rest.trim_start().len();
            let comment = if rest[blank..].starts_with("/*") {
                rest[blank..].find("*/").map(|end| end + 2)
            } else if rest[blank..].starts_with("//") {
                rest[blank..].find('\n')
            } else {
                None
            };
            at += blank;
            match comment {
                Some(length) => at += length,
                None if rest[blank..].starts_with("?.") || rest[blank..].starts_with(')') => {
                    at += rest[blank..].chars().take_while(|c| "?.)".contains(*c)).count();
                }
                None => break,
            }
        }
        at
    }
}

impl<'a> Visit<'a> for CalleeFinder<'_> {
    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        self.offer(self.bracket(&call.callee), &call.callee);
        walk::walk_call_expression(self, call);
    }

    fn visit_new_expression(&mut self, call: &NewExpression<'a>) {
        self.offer(call.span.start as usize, &call.callee);
        walk::walk_new_expression(self, call);
    }

    fn visit_tagged_template_expression(&mut self, call: &TaggedTemplateExpression<'a>) {
        self.offer(call.quasi.span.start as usize, &call.tag);
        walk::walk_tagged_template_expression(self, call);
    }
}
