//! `body()` of k6's FormData library by what it does, however it is written: minified, mangled, as a method of a class,
//! lowered from one, with types, with another constructor or more methods around it.
//!
//! The method and the function that makes bytes of its pieces are brought into a normal form (`lower.rs`, `normal.rs`),
//! whose hash is compared. Then `body()` alone is replaced: everything else of the class stays as it is written, so
//! nothing else has to be known of it. What has no term or another form is not recognised.

use data_encoding::HEXLOWER;
use std::collections::HashMap;
use std::fmt::Write;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, ArrowFunctionBody, AssignmentExpression, AssignmentTarget, Expression, FormalParameters, Function,
    MethodDefinition, ObjectExpression, ObjectPropertyKind, PropertyDefinition, Statement, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::{ScopeFlags, Scoping, SemanticBuilder};
use oxc_span::Span;
use sha2::{Digest, Sha256};

use super::lower::Lower;
use super::normal::normal;
use super::term::Term;
use super::{MARK, parsed, span_range};
use crate::sources::source_kind::SourceKind;

/// Source of a function that is looked at.
const LONGEST: usize = 20_000;
/// Functions looked at in a module.
const MOST: usize = 64;

/// A method that puts a form together.
#[derive(Debug)]
pub(super) struct AssemblyForm {
    /// Of its statements, with the braces.
    pub body: Span,
    pub signature: String,
    /// The properties of the form that it reads: its list of parts and its boundary, in this order.
    list: String,
    boundary: String,
    /// The properties of a part: its name and its content.
    part: [String; 2],
}

impl AssemblyForm {
    /// The same work by a native class.
    pub(super) fn native(&self, class: &str) -> String {
        let AssemblyForm { list, boundary, part: [name, content], .. } = self;
        format!(
            "{{var f=new {class},l=this.{list},i=0;f.boundary=this.{boundary};for(;i<l.length;i++)f.append(l[i].{name},\
             l[i].{content});return f.body()}}"
        )
    }
}

/// The methods of a module that may be the library's.
pub(super) fn assemblies(code: &str, kind: SourceKind) -> Vec<AssemblyForm> {
    let allocator = Allocator::default();
    let found = parsed(&allocator, code, kind, |program| {
        let scoping = SemanticBuilder::new().build(program).semantic.into_scoping();
        let mut bodies = MethodFinder { code, scoping: &scoping, found: Vec::new() };
        bodies.visit_program(program);
        let signed = bodies.found.into_iter().filter_map(|(span, body)| {
            let (body, helper, properties) = Printout::of_body(&body)?;
            let mut helpers = HelperFinder { scoping: &scoping, wanted: &helper, found: Vec::new(), unknown: false };
            helpers.visit_program(program);
            let first = helpers.found.first()?;
            if helpers.unknown || helpers.found.iter().any(|other| other != first) {
                return None;
            }
            let hash = Sha256::digest(format!("{body}\n{first}"));
            let signature = HEXLOWER.encode(&hash[..16]);
            let Properties { list, boundary, part } = properties;
            Some(AssemblyForm { body: span, signature, list, boundary, part })
        });
        signed.collect()
    });
    found.unwrap_or_default()
}

/// A function in normal form: its parameters and what it does.
fn function(
    scoping: &Scoping,
    span: Span,
    parameters: &FormalParameters<'_>,
    statements: &[Statement<'_>],
) -> Option<(Vec<Term>, Term)> {
    if span.size() as usize > LONGEST {
        return None;
    }
    let lower = Lower::new(scoping, span);
    let parameters = Lower::parameters(parameters)?;
    let statements = lower.statements(statements)?;
    let whole = normal(statements, &parameters, &|| lower.fresh());
    Some((parameters, whole))
}

/// Finds functions without parameters that write the head of a part.
struct MethodFinder<'s> {
    code: &'s str,
    scoping: &'s Scoping,
    found: Vec<(Span, Term)>,
}

impl<'a> Visit<'a> for MethodFinder<'_> {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if !self.code[span_range(it.span)].contains(MARK) || self.found.len() >= MOST {
            return;
        }
        let before = self.found.len();
        walk::walk_function(self, it, flags);
        if before != self.found.len() || it.r#async || it.generator {
            return;
        }
        let Some(body) = &it.body else { return };
        if let Some((parameters, whole)) = function(self.scoping, it.span, &it.params, &body.statements)
            && parameters.is_empty()
        {
            self.found.push((body.span, whole));
        }
    }
}

/// What makes bytes of the pieces: a method by its name, or a function by its symbol.
#[derive(Debug, PartialEq)]
enum Helper {
    Method(String),
    Function(usize),
}

/// Finds the functions that a call of the helper may mean.
struct HelperFinder<'s> {
    scoping: &'s Scoping,
    wanted: &'s Helper,
    found: Vec<String>,
    /// One of them is not understood.
    unknown: bool,
}

impl HelperFinder<'_> {
    fn is_method(&self, name: &str) -> bool {
        matches!(self.wanted, Helper::Method(wanted) if wanted == name)
    }

    fn add_expression(&mut self, value: &Expression<'_>) {
        match value {
            Expression::FunctionExpression(function) => self.add(function),
            Expression::ArrowFunctionExpression(arrow) => {
                let ArrowFunctionBody::FunctionBody(body) = &arrow.body else {
                    self.unknown = true;
                    return;
                };
                let known =
                    (!arrow.r#async).then(|| function(self.scoping, arrow.span, &arrow.params, &body.statements));
                self.push(known.flatten());
            }
            // What bundlers write to keep a function's name.
            Expression::CallExpression(call) => match call.arguments.as_slice() {
                [wrapped, Argument::StringLiteral(_)] => match wrapped.as_expression() {
                    Some(inner @ Expression::FunctionExpression(_)) => self.add_expression(inner),
                    _ => self.unknown = true,
                },
                _ => self.unknown = true,
            },
            _ => self.unknown = true,
        }
    }

    fn add(&mut self, it: &Function<'_>) {
        let known = match &it.body {
            Some(body) if !it.r#async && !it.generator => function(self.scoping, it.span, &it.params, &body.statements),
            _ => None,
        };
        self.push(known);
    }

    fn push(&mut self, known: Option<(Vec<Term>, Term)>) {
        match known {
            Some((parameters, whole)) => self.found.push(Printout::of_helper(&parameters, &whole)),
            None => self.unknown = true,
        }
    }
}

impl<'a> Visit<'a> for HelperFinder<'_> {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        let symbol = it.id.as_ref().and_then(|id| id.symbol_id.get());
        if symbol.is_some_and(|symbol| *self.wanted == Helper::Function(symbol.index())) {
            self.add(it);
        }
        walk::walk_function(self, it, flags);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        let symbol = it.id.get_binding_identifier().and_then(|id| id.symbol_id.get());
        if symbol.is_some_and(|symbol| *self.wanted == Helper::Function(symbol.index()))
            && let Some(init) = &it.init
        {
            self.add_expression(init);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        let is_it = match &it.left {
            AssignmentTarget::StaticMemberExpression(member) => self.is_method(&member.property.name),
            AssignmentTarget::AssignmentTargetIdentifier(name) => {
                let symbol = name.reference_id.get().and_then(|id| self.scoping.get_reference(id).symbol_id());
                symbol.is_some_and(|symbol| *self.wanted == Helper::Function(symbol.index()))
            }
            _ => false,
        };
        if is_it {
            self.add_expression(&it.right);
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        if it.key.name().is_some_and(|name| self.is_method(&private(&name, it.key.is_private_identifier()))) {
            self.add(&it.value);
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if it.key.name().is_some_and(|name| self.is_method(&private(&name, it.key.is_private_identifier())))
            && let Some(value) = &it.value
        {
            self.add_expression(value);
        }
        walk::walk_property_definition(self, it);
    }

    /// Lowered classes: `{ key: "name", value: function … }`.
    fn visit_object_expression(&mut self, it: &ObjectExpression<'a>) {
        let property = |wanted: &str| {
            it.properties.iter().find_map(|property| match property {
                ObjectPropertyKind::ObjectProperty(own) if own.key.is_specific_static_name(wanted) => Some(&own.value),
                _ => None,
            })
        };
        if let (Some(Expression::StringLiteral(key)), Some(value)) = (property("key"), property("value"))
            && self.is_method(&key.value)
        {
            self.add_expression(value);
        }
        walk::walk_object_expression(self, it);
    }
}

fn private(name: &str, is_private: bool) -> String {
    if is_private && !name.starts_with('#') { format!("#{name}") } else { name.to_owned() }
}

/// The names of its own that a method reads.
struct Properties {
    list: String,
    boundary: String,
    part: [String; 2],
}

/// A term as text: variables and properties of the form's own have numbers by the order in which they come.
#[derive(Default)]
struct Printout {
    out: String,
    variables: HashMap<usize, usize>,
    elements: Vec<usize>,
    own: Vec<String>,
    part: Vec<String>,
}

impl Printout {
    fn of_helper(parameters: &[Term], whole: &Term) -> String {
        let mut printed = Printout::default();
        parameters.iter().for_each(|parameter| printed.term(parameter));
        printed.term(whole);
        printed.out
    }

    fn of_body(whole: &Term) -> Option<(String, Helper, Properties)> {
        let (mut whole, mut callee) = (whole.clone(), None);
        whole.any(&mut |part| {
            let Some([called, _]) = part.parts("call") else { return false };
            let is_own = match called.as_member() {
                Some((object, _)) => *object == Term::this() || object.parts("outer").is_some(),
                None => called.parts("outer").is_some(),
            };
            if is_own {
                callee = Some(called.clone());
            }
            is_own
        });
        let callee = callee?;
        let helper = match callee.as_member() {
            Some((_, name)) => Helper::Method(name.to_owned()),
            None => match callee.parts("outer")? {
                [Term::Leaf(symbol), ..] => Helper::Function(symbol.parse().ok()?),
                _ => return None,
            },
        };
        whole.replace(&callee, &Term::leaf("helper"));
        let mut printed = Printout::default();
        // The list of parts is the one that a loop goes through.
        whole.any(&mut |part| {
            let Some([Term::Var(element), list, _]) = part.parts("each") else { return false };
            printed.elements.push(*element);
            if let Some((object, name)) = list.as_member()
                && *object == Term::this()
            {
                printed.own.push(name.to_owned());
            }
            false
        });
        printed.term(&whole);
        let ([list, boundary], [name, content]) = (printed.own.as_slice(), printed.part.as_slice()) else {
            return None;
        };
        let part = [name.clone(), content.clone()];
        Some((printed.out, helper, Properties { list: list.clone(), boundary: boundary.clone(), part }))
    }

    fn term(&mut self, term: &Term) {
        if let Some((object, name)) = term.as_member() {
            let names = match object {
                Term::Leaf(object) if object == "this" => Some(&mut self.own),
                Term::Var(variable) if self.elements.contains(variable) => Some(&mut self.part),
                _ => None,
            };
            if let Some(names) = names {
                let known = names.iter().position(|known| known == name);
                let number = known.unwrap_or_else(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                });
                self.term(object);
                return write!(self.out, ".{number} ").expect("a String takes all");
            }
        }
        match term {
            Term::Var(variable) => {
                let next = self.variables.len();
                let number = *self.variables.entry(*variable).or_insert(next);
                write!(self.out, "${number} ")
            }
            Term::Text(text) => write!(self.out, "{text:?} "),
            Term::Leaf(name) => write!(self.out, "{name} "),
            Term::Node(kind, parts) => {
                write!(self.out, "({kind} ").expect("a String takes all");
                parts.iter().for_each(|part| self.term(part));
                write!(self.out, ") ")
            }
        }
        .expect("a String takes all");
    }
}
