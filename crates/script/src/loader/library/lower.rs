//! A function of the syntax tree as terms: declarations are assignments, sequences are statements, loops of one kind.
//!
//! Assignments within expressions become statements before them. What the library and its minifiers never write has no
//! term (`None`): nested functions, labels, `switch`, `try`, optional chains.

use std::cell::Cell;

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, AssignmentExpression, AssignmentOperator, AssignmentTarget, BinaryOperator,
    BindingPattern, CallExpression, Expression, ForStatement, ForStatementInit, ForStatementLeft, FormalParameters,
    IdentifierReference, LogicalOperator, ObjectPropertyKind, PropertyKey, SimpleAssignmentTarget, Statement,
    TemplateLiteral, UnaryOperator, UpdateExpression, UpdateOperator, VariableDeclaration,
};
use oxc_semantic::{Scoping, SymbolId};
use oxc_span::Span;

use super::term::{Term, block};

/// What is assigned within an expression, before it.
type Before = Vec<Term>;

pub(super) struct Lower<'s> {
    scoping: &'s Scoping,
    function: Span,
    /// The number of the next variable that the text has no name for.
    fresh: Cell<usize>,
}

impl<'s> Lower<'s> {
    pub(super) fn new(scoping: &'s Scoping, function: Span) -> Lower<'s> {
        Lower { scoping, function, fresh: Cell::new(scoping.symbols_len()) }
    }

    pub(super) fn fresh(&self) -> usize {
        self.fresh.replace(self.fresh.get() + 1)
    }

    /// The parameters, which are plain names.
    pub(super) fn parameters(parameters: &FormalParameters<'_>) -> Option<Vec<Term>> {
        if parameters.rest.is_some() {
            return None;
        }
        let names = parameters.items.iter().map(|item| match (&item.pattern, &item.initializer) {
            (BindingPattern::BindingIdentifier(name), None) => variable(name.symbol_id.get()),
            _ => None,
        });
        names.collect()
    }

    pub(super) fn statements(&self, list: &[Statement<'_>]) -> Option<Vec<Term>> {
        let mut out = Vec::new();
        list.iter().try_for_each(|statement| self.statement(statement, &mut out))?;
        Some(out)
    }

    fn statement(&self, statement: &Statement<'_>, out: &mut Before) -> Option<()> {
        match statement {
            Statement::BlockStatement(inner) => out.extend(self.statements(&inner.body)?),
            Statement::EmptyStatement(_) => {}
            Statement::ExpressionStatement(statement) => self.effect(&statement.expression, out)?,
            Statement::VariableDeclaration(declaration) => self.declaration(declaration, out)?,
            Statement::IfStatement(branch) => {
                let test = self.expression(&branch.test, out)?;
                let yes = self.nested(&branch.consequent)?;
                let no = branch.alternate.as_ref().map_or(Some(block(Vec::new())), |no| self.nested(no))?;
                out.push(Term::Node("if", vec![test, yes, no]));
            }
            Statement::ForStatement(r#for) => self.for_loop(r#for, out)?,
            Statement::WhileStatement(r#while) => {
                let test = self.pure(&r#while.test)?;
                out.push(Term::Node("loop", vec![test, self.nested(&r#while.body)?]));
            }
            Statement::ForOfStatement(each) if !each.r#await => {
                let ForStatementLeft::VariableDeclaration(declared) = &each.left else { return None };
                let list = self.expression(&each.right, out)?;
                let (element, mut body) = (Term::Var(self.fresh()), Vec::new());
                self.bind(&declared.declarations.first()?.id, element.clone(), &mut body)?;
                self.statement(&each.body, &mut body)?;
                out.push(Term::Node("each", vec![element, list, block(body)]));
            }
            Statement::ReturnStatement(r#return) => {
                let value = r#return.argument.as_ref();
                let value = value.map_or(Some(Term::leaf("undefined")), |value| self.expression(value, out))?;
                out.push(Term::Node("return", vec![value]));
            }
            Statement::ThrowStatement(throw) => {
                let value = self.expression(&throw.argument, out)?;
                out.push(Term::Node("throw", vec![value]));
            }
            Statement::ContinueStatement(next) if next.label.is_none() => out.push(Term::Node("continue", Vec::new())),
            Statement::BreakStatement(end) if end.label.is_none() => out.push(Term::Node("break", Vec::new())),
            _ => return None,
        }
        Some(())
    }

    fn nested(&self, statement: &Statement<'_>) -> Option<Term> {
        self.statements(std::slice::from_ref(statement)).map(block)
    }

    fn for_loop(&self, r#for: &ForStatement<'_>, out: &mut Before) -> Option<()> {
        match &r#for.init {
            None => {}
            Some(ForStatementInit::VariableDeclaration(declaration)) => self.declaration(declaration, out)?,
            Some(init) => self.effect(init.as_expression()?, out)?,
        }
        let test = r#for.test.as_ref().map_or(Some(Term::leaf("true")), |test| self.pure(test))?;
        let mut body = self.statements(std::slice::from_ref(&r#for.body))?;
        if let Some(update) = &r#for.update {
            if body.iter().any(|part| part.any(&mut |part| part.parts("continue").is_some())) {
                return None;
            }
            self.effect(update, &mut body)?;
        }
        out.push(Term::Node("loop", vec![test, block(body)]));
        Some(())
    }

    fn declaration(&self, declaration: &VariableDeclaration<'_>, out: &mut Before) -> Option<()> {
        for declarator in &declaration.declarations {
            let Some(init) = &declarator.init else { continue };
            let value = self.expression(init, out)?;
            self.bind(&declarator.id, value, out)?;
        }
        Some(())
    }

    /// `name = value`, or `{ name, … } = value` for a value that may be read again.
    fn bind(&self, pattern: &BindingPattern<'_>, value: Term, out: &mut Before) -> Option<()> {
        match pattern {
            BindingPattern::BindingIdentifier(name) => {
                out.push(Term::Node("set", vec![variable(name.symbol_id.get())?, value]));
            }
            BindingPattern::ObjectPattern(object) if object.rest.is_none() => {
                let whole = match value {
                    Term::Var(_) => value,
                    _ => {
                        let whole = Term::Var(self.fresh());
                        out.push(Term::Node("set", vec![whole.clone(), value]));
                        whole
                    }
                };
                for property in &object.properties {
                    let PropertyKey::StaticIdentifier(key) = &property.key else { return None };
                    self.bind(&property.value, whole.clone().member(&key.name), out)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// An expression whose value is not used.
    fn effect(&self, expression: &Expression<'_>, out: &mut Before) -> Option<()> {
        match expression {
            Expression::SequenceExpression(sequence) => {
                sequence.expressions.iter().try_for_each(|part| self.effect(part, out))?;
            }
            Expression::AssignmentExpression(assignment) => self.assignment(assignment, out).map(drop)?,
            Expression::UpdateExpression(update) => self.update(update, out).map(drop)?,
            Expression::LogicalExpression(logical) => {
                let test = self.expression(&logical.left, out)?;
                let mut then = Vec::new();
                self.effect(&logical.right, &mut then)?;
                let (yes, no) = match logical.operator {
                    LogicalOperator::And => (then, Vec::new()),
                    LogicalOperator::Or => (Vec::new(), then),
                    LogicalOperator::Coalesce => return None,
                };
                out.push(Term::Node("if", vec![test, block(yes), block(no)]));
            }
            Expression::ConditionalExpression(choice) => {
                let test = self.expression(&choice.test, out)?;
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                self.effect(&choice.consequent, &mut yes)?;
                self.effect(&choice.alternate, &mut no)?;
                out.push(Term::Node("if", vec![test, block(yes), block(no)]));
            }
            Expression::UnaryExpression(unary)
                if matches!(unary.operator, UnaryOperator::LogicalNot | UnaryOperator::Void) =>
            {
                self.effect(&unary.argument, out)?;
            }
            _ => {
                let value = self.expression(expression, out)?;
                out.push(Term::Node("do", vec![value]));
            }
        }
        Some(())
    }

    /// Assigns, and says which variable has the value; what is assigned to properties has no value.
    fn assignment(&self, assignment: &AssignmentExpression<'_>, out: &mut Before) -> Option<Option<Term>> {
        let name = match &assignment.left {
            AssignmentTarget::AssignmentTargetIdentifier(name) => name,
            AssignmentTarget::StaticMemberExpression(member) if assignment.operator == AssignmentOperator::Assign => {
                let object = self.expression(&member.object, out)?;
                let value = self.expression(&assignment.right, out)?;
                out.push(Term::Node("put", vec![object.member(&member.property.name), value]));
                return Some(None);
            }
            _ => return None,
        };
        let target @ Term::Var(_) = self.name(name) else { return None };
        let mut value = self.expression(&assignment.right, out)?;
        if assignment.operator != AssignmentOperator::Assign {
            let operator = assignment.operator.to_binary_operator()?;
            value = Term::Node(operator.as_str(), vec![target.clone(), value]);
        }
        out.push(Term::Node("set", vec![target.clone(), value]));
        Some(Some(target))
    }

    fn update(&self, update: &UpdateExpression<'_>, out: &mut Before) -> Option<Term> {
        let SimpleAssignmentTarget::AssignmentTargetIdentifier(name) = &update.argument else { return None };
        let target @ Term::Var(_) = self.name(name) else { return None };
        let operator = if update.operator == UpdateOperator::Increment { "+" } else { "-" };
        let value = Term::Node(operator, vec![target.clone(), Term::leaf("1")]);
        out.push(Term::Node("set", vec![target.clone(), value]));
        Some(target)
    }

    /// An expression that assigns nothing.
    fn pure(&self, expression: &Expression<'_>) -> Option<Term> {
        let mut before = Vec::new();
        let value = self.expression(expression, &mut before)?;
        before.is_empty().then_some(value)
    }

    /// Adds an expression to those that are evaluated before it; `None` when it assigns to what they read.
    fn behind(&self, parts: &mut Vec<Term>, next: &Expression<'_>, out: &mut Before) -> Option<()> {
        let start = out.len();
        let value = self.expression(next, out)?;
        let mut assigned = out[start..].iter().map(|term| term.as_set().map(|(variable, _)| Term::Var(variable)));
        let in_order = assigned
            .all(|variable| variable.is_some_and(|variable| parts.iter().all(|part| part.count(&variable) == 0)));
        parts.push(value);
        in_order.then_some(())
    }

    fn all(&self, list: &[&Expression<'_>], out: &mut Before) -> Option<Vec<Term>> {
        let mut parts = Vec::new();
        list.iter().try_for_each(|part| self.behind(&mut parts, part, out))?;
        Some(parts)
    }

    fn expression(&self, expression: &Expression<'_>, out: &mut Before) -> Option<Term> {
        Some(match expression {
            Expression::BooleanLiteral(literal) => Term::leaf(if literal.value { "true" } else { "false" }),
            Expression::NullLiteral(_) => Term::leaf("null"),
            Expression::NumericLiteral(literal) => Term::Leaf(literal.value.to_string()),
            Expression::StringLiteral(literal) => Term::Text(literal.value.to_string()),
            Expression::RegExpLiteral(literal) => {
                Term::Leaf(format!("/{}/{}", literal.regex.pattern.text, literal.regex.flags))
            }
            Expression::TemplateLiteral(template) => self.template(template, out)?,
            Expression::Identifier(name) => self.name(name),
            Expression::ThisExpression(_) => Term::this(),
            Expression::AssignmentExpression(assignment) => self.assignment(assignment, out)??,
            Expression::UpdateExpression(update) if update.prefix => self.update(update, out)?,
            Expression::LogicalExpression(logical) => {
                let left = self.expression(&logical.left, out)?;
                Term::Node(logical.operator.as_str(), vec![left, self.pure(&logical.right)?])
            }
            Expression::ConditionalExpression(choice) => {
                let test = self.expression(&choice.test, out)?;
                Term::Node("?", vec![test, self.pure(&choice.consequent)?, self.pure(&choice.alternate)?])
            }
            Expression::SequenceExpression(sequence) => {
                let (last, rest) = sequence.expressions.split_last()?;
                rest.iter().try_for_each(|part| self.effect(part, out))?;
                self.expression(last, out)?
            }
            Expression::CallExpression(call) => self.call(call, out)?,
            Expression::NewExpression(new) => {
                let mut parts = vec![self.expression(&new.callee, out)?];
                self.arguments(&new.arguments, &mut parts, out)?;
                Term::Node("new", parts)
            }
            Expression::ArrayExpression(_) | Expression::ObjectExpression(_) => self.literal(expression, out)?,
            Expression::BinaryExpression(_) | Expression::UnaryExpression(_) => self.operation(expression, out)?,
            _ => self.member(expression, out)?,
        })
    }

    /// A list or an object.
    fn literal(&self, expression: &Expression<'_>, out: &mut Before) -> Option<Term> {
        Some(match expression {
            Expression::ArrayExpression(array) => {
                let mut parts = Vec::new();
                for element in &array.elements {
                    match element {
                        ArrayExpressionElement::SpreadElement(_) | ArrayExpressionElement::Elision(_) => return None,
                        element => self.behind(&mut parts, element.as_expression()?, out)?,
                    }
                }
                Term::Node("array", parts)
            }
            Expression::ObjectExpression(object) => {
                let mut parts = Vec::new();
                for property in &object.properties {
                    let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
                    parts.push(Term::Text(property.key.static_name()?.to_string()));
                    self.behind(&mut parts, &property.value, out)?;
                }
                Term::Node("object", parts)
            }
            _ => return None,
        })
    }

    fn operation(&self, expression: &Expression<'_>, out: &mut Before) -> Option<Term> {
        Some(match expression {
            Expression::BinaryExpression(binary) => {
                let parts = self.all(&[&binary.left, &binary.right], out)?;
                let is_reversed = |operator, parts: Vec<Term>| Term::Node(operator, parts.into_iter().rev().collect());
                match binary.operator {
                    BinaryOperator::GreaterThan => is_reversed("<", parts),
                    BinaryOperator::GreaterEqualThan => is_reversed("<=", parts),
                    BinaryOperator::Inequality => not(Term::Node("==", parts)),
                    BinaryOperator::StrictInequality => not(Term::Node("===", parts)),
                    operator => Term::Node(operator.as_str(), parts),
                }
            }
            Expression::UnaryExpression(unary) => {
                let value = self.expression(&unary.argument, out)?;
                match unary.operator {
                    UnaryOperator::LogicalNot => not(value),
                    UnaryOperator::Void if matches!(value, Term::Leaf(_)) => Term::leaf("undefined"),
                    UnaryOperator::Typeof => Term::Node("typeof", vec![value]),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    fn member(&self, expression: &Expression<'_>, out: &mut Before) -> Option<Term> {
        match expression {
            Expression::StaticMemberExpression(member) if !member.optional => {
                Some(self.expression(&member.object, out)?.member(&member.property.name))
            }
            Expression::PrivateFieldExpression(member) if !member.optional => {
                Some(self.expression(&member.object, out)?.member(&format!("#{}", member.field.name)))
            }
            Expression::ComputedMemberExpression(member) if !member.optional => match &member.expression {
                Expression::StringLiteral(key) => Some(self.expression(&member.object, out)?.member(&key.value)),
                key => Some(Term::Node("index", self.all(&[&member.object, key], out)?)),
            },
            _ => None,
        }
    }

    fn call(&self, call: &CallExpression<'_>, out: &mut Before) -> Option<Term> {
        if call.optional {
            return None;
        }
        let mut parts = vec![self.expression(&call.callee, out)?];
        self.arguments(&call.arguments, &mut parts, out)?;
        Some(Term::Node("call", parts))
    }

    fn arguments(&self, arguments: &[Argument<'_>], parts: &mut Vec<Term>, out: &mut Before) -> Option<()> {
        for argument in arguments {
            match argument {
                Argument::SpreadElement(spread) => {
                    self.behind(parts, &spread.argument, out)?;
                    let list = parts.pop()?;
                    parts.push(Term::Node("spread", vec![list]));
                }
                argument => self.behind(parts, argument.as_expression()?, out)?,
            }
        }
        Some(())
    }

    fn template(&self, template: &TemplateLiteral<'_>, out: &mut Before) -> Option<Term> {
        let mut parts = Vec::new();
        for (number, text) in template.quasis.iter().enumerate() {
            parts.push(Term::Text(text.value.cooked?.to_string()));
            if let Some(expression) = template.expressions.get(number) {
                self.behind(&mut parts, expression, out)?;
            }
        }
        Some(Term::Node("text", parts))
    }

    fn name(&self, name: &IdentifierReference<'_>) -> Term {
        let symbol = name.reference_id.get().and_then(|id| self.scoping.get_reference(id).symbol_id());
        match symbol {
            None if name.name == "undefined" => Term::leaf("undefined"),
            None => Term::Leaf(format!("global {}", name.name)),
            Some(symbol) => {
                let span = self.scoping.symbol_span(symbol);
                if self.function.start <= span.start && span.end <= self.function.end {
                    Term::Var(symbol.index())
                } else {
                    Term::Node("outer", vec![Term::Leaf(symbol.index().to_string()), Term::leaf(&name.name)])
                }
            }
        }
    }
}

fn variable(symbol: Option<SymbolId>) -> Option<Term> {
    symbol.map(|symbol| Term::Var(symbol.index()))
}

fn not(term: Term) -> Term {
    Term::Node("!", vec![term])
}
