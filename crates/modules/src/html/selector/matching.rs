//! Whether an element meets the conditions of a selector.

use crate::html::document::{Document, NodeData, NodeId};

use super::{Chain, Combinator, Compound, Condition, CssSelector, Nth, PseudoClass, Test, Word};

impl CssSelector {
    /// Whether it selects this node; only elements are selected.
    pub fn matches(&self, document: &Document, id: NodeId) -> bool {
        document.is_element(id) && self.chains.iter().any(|chain| chain.matches(document, id))
    }

    /// What it selects below a node, in the order of the text.
    pub fn select<'a>(&'a self, document: &'a Document, below: NodeId) -> impl Iterator<Item = NodeId> + 'a {
        document.below(below).filter(move |id| self.matches(document, *id))
    }
}

impl Chain {
    fn matches(&self, document: &Document, id: NodeId) -> bool {
        self.last.matches(document, id) && stand_before(&self.before, document, id)
    }
}

/// Whether what has to stand before or above an element does.
///
/// The nearest that fits decides, where what has to stand before that can be anywhere above: whoever is farther away
/// has no more above. Trying each would take time that grows with the depth to the power of the selector's length.
fn stand_before(before: &[(Combinator, Compound)], document: &Document, id: NodeId) -> bool {
    let Some(((combinator, compound), rest)) = before.split_first() else { return true };
    let decides = rest.first().is_none_or(|(next, _)| *next == Combinator::Descendant);
    let others: Box<dyn Iterator<Item = NodeId> + '_> = match combinator {
        Combinator::Descendant => Box::new(document.ancestors(id)),
        Combinator::Child => Box::new(document.parent(id).into_iter()),
        Combinator::Adjacent => Box::new(document.preceding(id).find(|other| document.is_element(*other)).into_iter()),
        Combinator::Sibling => Box::new(document.preceding(id)),
    };
    let mut fitting = others.filter(|other| compound.matches(document, *other));
    match decides {
        true => fitting.next().is_some_and(|other| stand_before(rest, document, other)),
        false => fitting.any(|other| stand_before(rest, document, other)),
    }
}

impl Compound {
    fn matches(&self, document: &Document, id: NodeId) -> bool {
        document.is_element(id) && self.conditions.iter().all(|condition| condition.holds(document, id))
    }
}

impl Condition {
    fn holds(&self, document: &Document, id: NodeId) -> bool {
        match self {
            Condition::Tag(name) => document.is_tag(id, name),
            Condition::Id(wanted) => document.attribute(id, "id") == Some(wanted),
            Condition::Class(wanted) => document
                .attribute(id, "class")
                .is_some_and(|classes| classes.split_ascii_whitespace().any(|class| class == wanted)),
            Condition::Attribute { name, test } => test.holds(document.attribute(id, name)),
            Condition::Not(selector) => !selector.matches(document, id),
            Condition::Has(selector, false) => selector.select(document, id).next().is_some(),
            Condition::Has(selector, true) => document.children(id).any(|child| selector.matches(document, child)),
            Condition::Contains(part, own) => text(document, id, *own).to_lowercase().contains(part),
            Condition::Matches(regex, own) => regex.is_match(&text(document, id, *own)),
            Condition::Nth(nth) => nth.holds(document, id),
            Condition::Language(wanted) => language(document, id, wanted),
            Condition::PseudoClass(state) => state.holds(document, id),
        }
    }
}

/// The text of an element, or only what is directly in it.
fn text(document: &Document, id: NodeId, own: bool) -> String {
    if !own {
        return document.text(id);
    }
    let texts = document.children(id).filter_map(|child| match &document.node(child).data {
        NodeData::Text(text) => Some(&**text),
        _ => None,
    });
    texts.collect()
}

fn language(document: &Document, id: NodeId, wanted: &str) -> bool {
    let said = std::iter::once(id).chain(document.ancestors(id)).find_map(|node| document.attribute(node, "lang"));
    said.is_some_and(|said| said == wanted || said.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('-')))
}

impl Test {
    fn holds(&self, value: Option<&str>) -> bool {
        let Some(value) = value else { return matches!(self, Test::Differs(_)) };
        match self {
            Test::Present => true,
            Test::Equals(word) => word.is(value),
            Test::Differs(word) => !word.is(value),
            Test::Includes(word) => value.split_ascii_whitespace().any(|one| word.is(one)),
            Test::Dash(word) => word.is(value) || value.split_once('-').is_some_and(|(start, _)| word.is(start)),
            Test::Begins(word) => word.asks(value, |value, part| value.starts_with(part)),
            Test::Ends(word) => word.asks(value, |value, part| value.ends_with(part)),
            Test::Holds(word) => word.asks(value, |value, part| value.contains(part)),
            Test::Regex(regex) => regex.is_match(value),
        }
    }
}

impl Word {
    fn is(&self, value: &str) -> bool {
        match self.any_case {
            true => value.eq_ignore_ascii_case(&self.text),
            false => value == self.text,
        }
    }

    /// An empty part is in nothing.
    fn asks(&self, value: &str, question: impl Fn(&str, &str) -> bool) -> bool {
        if value.trim().is_empty() || self.text.is_empty() {
            return false;
        }
        match self.any_case {
            true => question(&value.to_ascii_lowercase(), &self.text.to_ascii_lowercase()),
            false => question(value, &self.text),
        }
    }
}

impl Nth {
    fn holds(&self, document: &Document, id: NodeId) -> bool {
        let counts = |other: &NodeId| match self.of_type {
            true => document.element(*other).map(|e| &e.name) == document.element(id).map(|e| &e.name),
            false => document.is_element(*other),
        };
        if document.parent(id).is_none_or(|parent| parent == Document::ROOT) {
            return false;
        }
        if self.only {
            return !document.preceding(id).chain(document.following(id)).any(|other| counts(&other));
        }
        let place = match self.from_end {
            true => document.following(id).filter(counts).count(),
            false => document.preceding(id).filter(counts).count(),
        };
        let distance = i64::try_from(place).unwrap_or(i64::MAX - 1) + 1 - i64::from(self.offset);
        match i64::from(self.step) {
            0 => distance == 0,
            step => distance % step == 0 && distance / step >= 0,
        }
    }
}

impl PseudoClass {
    fn holds(self, document: &Document, id: NodeId) -> bool {
        let (tag, has) = (document.tag(id), |name| document.attribute(id, name).is_some());
        match self {
            PseudoClass::Never => false,
            PseudoClass::Root => document.parent(id) == Some(Document::ROOT),
            PseudoClass::Input => matches!(tag, "input" | "select" | "textarea" | "button"),
            PseudoClass::Link => matches!(tag, "a" | "area" | "link") && has("href"),
            PseudoClass::Empty => !document
                .children(id)
                .any(|child| matches!(document.node(child).data, NodeData::Element(_) | NodeData::Text(_))),
            PseudoClass::Checked => match tag {
                "input" => {
                    let kind = document.attribute(id, "type").unwrap_or_default();
                    has("checked") && (kind.eq_ignore_ascii_case("checkbox") || kind.eq_ignore_ascii_case("radio"))
                }
                "option" => has("selected"),
                _ => false,
            },
            PseudoClass::Enabled => match tag {
                "a" | "area" | "link" => has("href"),
                _ => can_be_disabled(tag) && !is_disabled(document, id),
            },
            PseudoClass::Disabled => can_be_disabled(tag) && is_disabled(document, id),
        }
    }
}

fn can_be_disabled(tag: &str) -> bool {
    matches!(tag, "optgroup" | "menuitem" | "fieldset" | "button" | "input" | "select" | "textarea" | "option")
}

/// By itself, or by the fieldset around it; what is in the fieldset's legend is not.
fn is_disabled(document: &Document, id: NodeId) -> bool {
    if document.attribute(id, "disabled").is_some() {
        return true;
    }
    if !matches!(document.tag(id), "button" | "input" | "select" | "textarea" | "option") {
        return false;
    }
    let mut below = id;
    for above in document.ancestors(id) {
        let in_legend = document.tag(below) == "legend";
        if document.tag(above) == "fieldset" && document.attribute(above, "disabled").is_some() && !in_legend {
            return true;
        }
        below = above;
    }
    false
}
