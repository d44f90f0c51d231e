//! The normal form of a function: what people, compilers and minifiers write in several ways is written in one.
//!
//! Each rule keeps what the function does, with two things taken for granted that hold for k6's library and its copies:
//! properties that are read have no side effect, and an object's method that is called changes no other object's
//! properties.

use std::collections::HashMap;

use super::term::{Term, block};

/// More rounds than texts of people need.
const MOST_ROUNDS: usize = 40;

/// The statements of a function in normal form. `fresh` gives numbers of new variables.
pub(super) fn normal(statements: Vec<Term>, parameters: &[Term], fresh: &dyn Fn() -> usize) -> Term {
    let mut whole = block(statements);
    for _ in 0..MOST_ROUNDS {
        let before = whole.clone();
        whole.rewrite(&mut expression);
        whole.rewrite(&mut branch);
        whole.rewrite(&mut jumps);
        whole.rewrite(&mut sink);
        split(&mut whole, fresh);
        spread_aliases(&mut whole, parameters);
        walk_lists(&mut whole, fresh);
        inline(&mut whole);
        if whole == before {
            break;
        }
    }
    whole
}

/// One way to write an expression.
fn expression(term: &mut Term) {
    let Term::Node(kind, parts) = term else { return };
    match (*kind, parts.as_mut_slice()) {
        ("+", [left, right]) if is_text(left) || is_text(right) => *kind = "text",
        ("&" | "|" | "^" | "*" | "==" | "===", [left @ (Term::Leaf(_) | Term::Text(_)), right])
            if !matches!(right, Term::Leaf(_) | Term::Text(_)) =>
        {
            std::mem::swap(left, right);
        }
        ("===", [left, Term::Text(_)]) if left.parts("typeof").is_some() => *kind = "==",
        ("?", [test, yes, no]) => {
            if let Some([inner]) = test.parts("!") {
                *test = inner.clone();
                std::mem::swap(yes, no);
            }
            if let (Some([start, rest @ ..]), false) = (yes.parts("text"), is_text(no))
                && start == no
            {
                let rest = Term::Node("text", rest.to_vec());
                let choice = Term::Node("?", vec![test.clone(), rest, Term::Text(String::new())]);
                *term = Term::Node("text", vec![no.clone(), choice]);
            }
        }
        ("call", _) => {
            if let Some(other) = called(parts) {
                *term = other;
            }
        }
        _ => {}
    }
    if let Term::Node("text", parts) = term {
        joined(parts);
        if let [only @ Term::Text(_)] = parts.as_slice() {
            *term = only.clone();
        }
    }
}

fn is_text(term: &Term) -> bool {
    matches!(term, Term::Text(_) | Term::Node("text", _))
}

/// Text of text is one text; literals that meet are one.
fn joined(parts: &mut Vec<Term>) {
    let mut out: Vec<Term> = Vec::with_capacity(parts.len());
    let flat = std::mem::take(parts).into_iter().flat_map(|part| match part {
        Term::Node("text", inner) => inner,
        other => vec![other],
    });
    for part in flat {
        match (out.last_mut(), part) {
            (Some(Term::Text(before)), Term::Text(text)) => before.push_str(&text),
            (_, part) => out.push(part),
        }
    }
    // An empty literal makes text of the rest, which has a literal of its own.
    if out.iter().filter(|part| is_text(part)).count() > 1 {
        let has_more = |out: &[Term]| out.iter().any(|part| matches!(part, Term::Text(text) if !text.is_empty()));
        if has_more(&out) {
            out.retain(|part| !matches!(part, Term::Text(text) if text.is_empty()));
        }
    }
    *parts = out;
}

/// One way to append a list to a list, to make bytes of a list, to replace all of a text.
fn called(parts: &[Term]) -> Option<Term> {
    let name = |term: &Term, wanted: &str| {
        term.parts("outer").is_some_and(|outer| outer[1] == Term::leaf(wanted))
            || *term == Term::Leaf(format!("global {wanted}"))
    };
    let [callee, arguments @ ..] = parts else { return None };
    match arguments {
        // Helpers of TypeScript and Babel for `...list`.
        [list] if name(callee, "_toConsumableArray") || name(callee, "__read") => return Some(list.clone()),
        [Term::Node("array", none), list, Term::Leaf(_)] if none.is_empty() && name(callee, "__spreadArray") => {
            return Some(list.clone());
        }
        [Term::Node("member", member), target, list]
            if name(callee, "_callSpread") && member[0] == *target && member[1] == Term::leaf("push") =>
        {
            return Some(push(target, list));
        }
        _ => {}
    }
    let (object, method) = callee.as_member()?;
    match (method, arguments) {
        ("push", [Term::Node("spread", list)]) => Some(push(object, &list[0])),
        ("apply", [target, list]) => {
            let (owner, method) = object.as_member()?;
            let is_array = owner == target
                || owner.parts("array").is_some_and(<[Term]>::is_empty)
                || *owner == Term::leaf("global Array").member("prototype");
            (method == "push" && is_array).then(|| push(target, list))
        }
        ("concat", _) if is_text(object) => {
            Some(Term::Node("text", std::iter::once(object).chain(arguments).cloned().collect()))
        }
        ("from", [list]) if *object == Term::leaf("global Uint8Array") => {
            Some(Term::Node("new", vec![object.clone(), list.clone()]))
        }
        ("replaceAll", [Term::Text(from), to @ Term::Text(_)])
            if from.len() == 1 && !from.contains(|sign: char| "\\^$.*+?()[]{}|/".contains(sign)) =>
        {
            let pattern = Term::Leaf(format!("/{from}/g"));
            Some(Term::Node("call", vec![object.clone().member("replace"), pattern, to.clone()]))
        }
        _ => None,
    }
}

fn push(target: &Term, list: &Term) -> Term {
    Term::Node("push", vec![target.clone(), list.clone()])
}

/// One way to write a branch.
fn branch(term: &mut Term) {
    let Term::Node("if", parts) = term else { return };
    if let Some([inner]) = parts[0].parts("!") {
        parts[0] = inner.clone();
        parts.swap(1, 2);
    }
    let [test, yes, no] = parts.as_slice() else { return };
    let (Some(yes), Some(no)) = (yes.parts("block"), no.parts("block")) else { return };
    let choice = |yes: &Term, no: &Term| Term::Node("?", vec![test.clone(), yes.clone(), no.clone()]);
    let set = |variable, value| Term::Node("set", vec![Term::Var(variable), value]);
    let other = match (yes, no) {
        ([Term::Node("if", inner)], []) if inner[2] == block(Vec::new()) => {
            let both = Term::Node("&&", vec![test.clone(), inner[0].clone()]);
            Term::Node("if", vec![both, inner[1].clone(), block(Vec::new())])
        }
        ([Term::Node("return", yes)], [Term::Node("return", no)]) => {
            Term::Node("return", vec![choice(&yes[0], &no[0])])
        }
        ([yes], [no]) => match (yes.as_set(), no.as_set()) {
            (Some((variable, yes)), Some((same, no))) if variable == same => set(variable, choice(yes, no)),
            _ => return,
        },
        ([yes], []) => match yes.as_set() {
            Some((variable, value)) => set(variable, choice(value, &Term::Var(variable))),
            None => return,
        },
        ([], [no]) => match no.as_set() {
            Some((variable, value)) => set(variable, choice(&Term::Var(variable), value)),
            None => return,
        },
        _ => return,
    };
    *term = other;
}

/// What comes after a branch that leaves is the other branch.
fn jumps(term: &mut Term) {
    let Term::Node("block", list) = term else { return };
    let leaves = |term: &Term| {
        term.parts("block")
            .and_then(<[Term]>::last)
            .is_some_and(|last| matches!(last, Term::Node("return" | "throw" | "continue" | "break", _)))
    };
    for at in 0..list.len() {
        let Term::Node("if", parts) = &list[at] else { continue };
        let rest_goes_to = match (leaves(&parts[1]), leaves(&parts[2])) {
            (true, false) => 2,
            (false, true) => 1,
            _ => continue,
        };
        let rest = list.split_off(at + 1);
        if let Term::Node("if", parts) = &mut list[at]
            && let Term::Node("block", branch) = &mut parts[rest_goes_to]
        {
            branch.extend(rest);
        }
        return;
    }
}

/// A variable gets its first literal where it is needed, those for one statement in the order in which it needs them.
fn sink(term: &mut Term) {
    let Term::Node("block", list) = term else { return };
    let literal = |term: &Term| match term.as_set()? {
        (variable, Term::Text(_)) => Some(variable),
        (variable, Term::Leaf(name)) => (!name.starts_with("global ")).then_some(variable),
        (variable, value) => value.parts("array")?.is_empty().then_some(variable),
    };
    for start in (0..list.len()).rev() {
        for at in start..list.len() - 1 {
            let Some(variable) = literal(&list[at]) else { break };
            let is_later = match literal(&list[at + 1]) {
                Some(other) if other == variable => false,
                Some(other) => {
                    let first_of_both = list[at + 2..].iter().find_map(|part| part.first_of(variable, other));
                    first_of_both == Some(other)
                }
                None => list[at + 1].count(&Term::Var(variable)) == 0,
            };
            if !is_later {
                break;
            }
            list.swap(at, at + 1);
        }
    }
}

/// A variable that gets a value without its last one is another variable from there on, when one list has all of it.
fn split(whole: &mut Term, fresh: &dyn Fn() -> usize) {
    let all = whole.clone();
    whole.rewrite(&mut |term| {
        let Term::Node("block", list) = term else { return };
        for at in 1..list.len() {
            let Some((variable, value)) = list[at].as_set() else { continue };
            let name = Term::Var(variable);
            let begins =
                |part: &Term| part.as_set().is_some_and(|(set, value)| set == variable && value.count(&name) == 0);
            let first = list.iter().find(|part| part.count(&name) > 0);
            let within: usize = list.iter().map(|part| part.count(&name)).sum();
            if value.count(&name) == 0
                && first.is_some_and(begins)
                && list[..at].iter().any(begins)
                && within == all.count(&name)
            {
                let new = Term::Var(fresh());
                list[at..].iter_mut().for_each(|part| part.replace(&name, &new));
                return;
            }
        }
    });
}

/// A variable that is another name of a property or a variable is that.
fn spread_aliases(whole: &mut Term, parameters: &[Term]) {
    let mut definitions = HashMap::new();
    whole.definitions(&mut definitions);
    for parameter in parameters {
        if let Term::Var(variable) = parameter {
            *definitions.entry(*variable).or_default() += 1;
        }
    }
    let mut found = None;
    let has_puts = whole.any(&mut |part| part.parts("put").is_some());
    whole.any(&mut |part| {
        let Some((variable, value)) = part.as_set() else { return false };
        if definitions.get(&variable) == Some(&1) && !has_puts && is_path(value, &definitions) {
            found = Some((variable, value.clone()));
        }
        found.is_some()
    });
    let Some((variable, path)) = found else { return };
    let changed = path.as_member().is_some_and(|(object, _)| {
        whole.any(&mut |part| match part {
            Term::Node("push", parts) => parts[0] == *object,
            Term::Node("call", parts) => parts[0].as_member().is_some_and(|(called, _)| called == object),
            _ => false,
        })
    });
    if changed && path.as_member().is_some_and(|(object, _)| *object != Term::this()) {
        return;
    }
    whole.rewrite(&mut |term| {
        if let Term::Node("block", list) = term {
            list.retain(|part| part.as_set().is_none_or(|(set, _)| set != variable));
        }
    });
    whole.replace(&Term::Var(variable), &path);
}

/// `this`, a variable with one value, a property of a path.
fn is_path(term: &Term, definitions: &HashMap<usize, usize>) -> bool {
    match term {
        Term::Var(variable) => definitions.get(variable) == Some(&1),
        Term::Leaf(name) => name == "this",
        _ => term.as_member().is_some_and(|(object, _)| is_path(object, definitions)),
    }
}

/// A loop over the indices of a list that wants its elements alone is a loop over those.
fn walk_lists(whole: &mut Term, fresh: &dyn Fn() -> usize) {
    let mut definitions = HashMap::new();
    whole.definitions(&mut definitions);
    let all = whole.clone();
    whole.rewrite(&mut |term| {
        let Term::Node("block", list) = term else { return };
        let Some((at, index)) = list.iter().enumerate().find_map(|(at, part)| Some((at, counted(part)?))) else {
            return;
        };
        let start = Term::Node("set", vec![Term::Var(index), Term::leaf("0")]);
        let Some(begin) = list[..at].iter().rposition(|part| *part == start) else { return };
        let Term::Node("loop", parts) = &list[at] else { return };
        let Some([_, length]) = parts[0].parts("<") else { return };
        let Some((items, _)) = length.as_member() else { return };
        let element = Term::Node("index", vec![items.clone(), Term::Var(index)]);
        // Twice set, once compared, twice in the step: the rest has to be elements.
        let others = all.count(&Term::Var(index)) - 4 - all.count(&element);
        let keeps_items = is_path(items, &definitions) && all.count(&push(items, &Term::this())) == 0;
        if definitions.get(&index) != Some(&2) || others != 0 || !keeps_items {
            return;
        }
        let item = Term::Var(fresh());
        let items = items.clone();
        let mut body = parts[1].clone();
        if let Term::Node(_, body) = &mut body {
            body.pop();
        }
        body.replace(&element, &item);
        list[at] = Term::Node("each", vec![item, items, body]);
        list.remove(begin);
    });
}

/// The variable of `loop(variable < ….length) { …; variable = variable + 1 }`.
fn counted(term: &Term) -> Option<usize> {
    let [test, body] = term.parts("loop")? else { return None };
    let [Term::Var(index), length] = test.parts("<")? else { return None };
    let step = Term::Node("+", vec![Term::Var(*index), Term::leaf("1")]);
    let (stepped, value) = body.parts("block")?.last()?.as_set()?;
    (length.as_member()?.1 == "length" && stepped == *index && *value == step).then_some(*index)
}

/// A value that the next statement alone uses stands there.
fn inline(whole: &mut Term) {
    let all = whole.clone();
    whole.rewrite(&mut |term| {
        let Term::Node("block", list) = term else { return };
        let mut at = 0;
        while at + 1 < list.len() {
            let Some((variable, value)) = list[at].as_set().map(|(variable, value)| (variable, value.clone())) else {
                at += 1;
                continue;
            };
            let name = Term::Var(variable);
            let once = all.count(&name) == 2;
            let Some(head) = head_of(&mut list[at + 1], variable, once) else {
                at += 1;
                continue;
            };
            if head.count(&name) != 1 {
                at += 1;
                continue;
            }
            head.replace(&name, &value);
            list.remove(at);
            at = at.saturating_sub(1);
        }
    });
}

/// The expression of a statement that is evaluated at once, where a value may be put: a value that is used once, or one
/// that the statement overwrites.
fn head_of(statement: &mut Term, variable: usize, once: bool) -> Option<&mut Term> {
    let overwrites = statement.as_set().is_some_and(|(set, _)| set == variable);
    let Term::Node(kind, parts) = statement else { return None };
    match *kind {
        "set" if once || overwrites => parts.get_mut(1),
        "do" | "return" | "throw" | "if" if once => parts.get_mut(0),
        "each" if once => parts.get_mut(1),
        _ => None,
    }
}
