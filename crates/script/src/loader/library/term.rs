//! What a function does, without how it is written: terms, and questions about them.

use std::collections::HashMap;

/// An expression, a statement or a list of statements.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    /// A variable of the function, or a parameter.
    Var(usize),
    /// A string.
    Text(String),
    /// A name, a number, `this`.
    Leaf(String),
    /// Everything else, by its kind.
    Node(&'static str, Vec<Term>),
}

impl Term {
    pub(super) fn leaf(name: &str) -> Term {
        Term::Leaf(name.to_owned())
    }

    pub(super) fn this() -> Term {
        Term::leaf("this")
    }

    pub(super) fn member(self, name: &str) -> Term {
        Term::Node("member", vec![self, Term::leaf(name)])
    }

    /// The parts of a node of this kind.
    pub(super) fn parts(&self, kind: &str) -> Option<&[Term]> {
        match self {
            Term::Node(own, parts) if *own == kind => Some(parts),
            _ => None,
        }
    }

    /// Object and name of `object.name`.
    pub(super) fn as_member(&self) -> Option<(&Term, &str)> {
        match self.parts("member")? {
            [object, Term::Leaf(name)] => Some((object, name)),
            _ => None,
        }
    }

    /// Variable and value of an assignment.
    pub(super) fn as_set(&self) -> Option<(usize, &Term)> {
        match self.parts("set")? {
            [Term::Var(variable), value] => Some((*variable, value)),
            _ => None,
        }
    }

    fn children(&self) -> &[Term] {
        if let Term::Node(_, parts) = self { parts } else { &[] }
    }

    /// How often a term is within this one.
    pub(super) fn count(&self, wanted: &Term) -> usize {
        if self == wanted {
            return 1;
        }
        self.children().iter().map(|part| part.count(wanted)).sum()
    }

    /// Which of two variables comes first in this term.
    pub(super) fn first_of(&self, one: usize, other: usize) -> Option<usize> {
        let mut first = None;
        self.any(&mut |part| {
            first = match part {
                Term::Var(variable) if *variable == one || *variable == other => Some(*variable),
                _ => None,
            };
            first.is_some()
        });
        first
    }

    /// Whether a part is such a one.
    pub(super) fn any(&self, is_wanted: &mut dyn FnMut(&Term) -> bool) -> bool {
        is_wanted(self) || self.children().iter().any(|part| part.any(is_wanted))
    }

    /// With a term in the place of another, wherever that is.
    pub(super) fn replace(&mut self, from: &Term, to: &Term) {
        if self == from {
            *self = to.clone();
        } else if let Term::Node(_, parts) = self {
            parts.iter_mut().for_each(|part| part.replace(from, to));
        }
    }

    /// Calls a function for each term, parts first.
    pub(super) fn rewrite(&mut self, rule: &mut dyn FnMut(&mut Term)) {
        if let Term::Node(_, parts) = self {
            parts.iter_mut().for_each(|part| part.rewrite(rule));
        }
        rule(self);
    }

    /// How often each variable gets a value.
    pub(super) fn definitions(&self, counts: &mut HashMap<usize, usize>) {
        if let Term::Node("set" | "each", parts) = self
            && let Some(Term::Var(variable)) = parts.first()
        {
            *counts.entry(*variable).or_default() += 1;
        }
        self.children().iter().for_each(|part| part.definitions(counts));
    }
}

/// A list of statements.
pub(super) fn block(statements: Vec<Term>) -> Term {
    Term::Node("block", statements)
}
