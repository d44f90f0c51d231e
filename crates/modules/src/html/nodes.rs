//! Lists of nodes and the ways from one list to the next: the plain part of selections.
//!
//! A list has each node once, in the order in which it was found.

use rustc_hash::FxHashSet;

use super::document::{Document, NodeId};
use super::selector::CssSelector;

/// A way from a node to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Children,
    Contents,
    Next,
    NextAll,
    Parent,
    Parents,
    Previous,
    PreviousAll,
    Siblings,
}

/// What a script names nodes by.
pub(super) enum Chosen {
    /// A selector; nothing when the text is none, which chooses no node.
    Selector(Option<CssSelector>),
    /// Nodes of this document; of another there are none.
    Nodes(Vec<NodeId>),
}

impl Chosen {
    pub(super) fn has(&self, document: &Document, id: NodeId) -> bool {
        match self {
            Chosen::Selector(selector) => selector.as_ref().is_some_and(|selector| selector.matches(document, id)),
            Chosen::Nodes(nodes) => nodes.contains(&id),
        }
    }

    /// What it chooses below a node.
    pub(super) fn below<'a>(&'a self, document: &'a Document, id: NodeId) -> Box<dyn Iterator<Item = NodeId> + 'a> {
        match self {
            Chosen::Selector(None) => Box::new(std::iter::empty()),
            Chosen::Selector(Some(selector)) => Box::new(selector.select(document, id)),
            Chosen::Nodes(nodes) => Box::new(nodes.iter().copied().filter(move |node| document.contains(id, *node))),
        }
    }
}

/// Each node once.
pub(super) fn once(nodes: impl IntoIterator<Item = NodeId>) -> Vec<NodeId> {
    let mut seen = FxHashSet::default();
    nodes.into_iter().filter(|id| seen.insert(*id)).collect()
}

impl Way {
    /// Where it leads from these nodes.
    pub(super) fn from(self, document: &Document, nodes: &[NodeId]) -> Vec<NodeId> {
        once(nodes.iter().flat_map(|id| self.of(document, *id)))
    }

    /// Where it leads from these nodes, up to the first one that is chosen.
    pub(super) fn until(self, document: &Document, nodes: &[NodeId], end: Option<&Chosen>) -> Vec<NodeId> {
        let goes_on = |id: &NodeId| !end.is_some_and(|end| end.has(document, *id));
        once(nodes.iter().flat_map(|id| self.of(document, *id).into_iter().take_while(goes_on)))
    }

    fn of(self, document: &Document, id: NodeId) -> Vec<NodeId> {
        let is_element = |id: &NodeId| document.is_element(*id);
        match self {
            Way::Children => document.child_elements(id).collect(),
            Way::Contents => document.children(id).collect(),
            Way::Next => document.following(id).find(is_element).into_iter().collect(),
            Way::NextAll => document.following(id).filter(is_element).collect(),
            Way::Parent => document.parent(id).filter(is_element).into_iter().collect(),
            Way::Parents => document.ancestors(id).filter(is_element).collect(),
            Way::Previous => document.preceding(id).find(is_element).into_iter().collect(),
            Way::PreviousAll => document.preceding(id).filter(is_element).collect(),
            Way::Siblings => match document.parent(id) {
                Some(parent) => document.child_elements(parent).filter(|child| *child != id).collect(),
                None => Vec::new(),
            },
        }
    }
}

/// The part of a list from a place up to another, both counted from the end when they are negative.
pub(super) fn part(length: usize, from: i64, to: Option<i64>) -> std::ops::Range<usize> {
    let length = length as i64;
    let place = |index: i64| if index < 0 { (length + index).max(0) } else { index.min(length) } as usize;
    let (from, to) = (place(from), place(to.unwrap_or(length)));
    from..to.max(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_to_neighbours() {
        let document = Document::parse("<ul>x<li>1<li id=b>2<li>3</ul>", "");
        let items: Vec<NodeId> = document.descendants_named(Document::ROOT, &["li"]).collect();
        let shown = |nodes: Vec<NodeId>| {
            nodes
                .into_iter()
                .map(|id| format!("{}{}", document.tag(id), document.text(id)))
                .collect::<Vec<_>>()
                .join(" ")
        };
        for (way, expected) in [
            (Way::Siblings, "li2 li3 li1"),
            (Way::NextAll, "li2 li3"),
            (Way::PreviousAll, "li1 li2"),
            (Way::Parent, "ulx123"),
            (Way::Parents, "ulx123 bodyx123 htmlx123"),
            (Way::Contents, "1 2 3"),
            (Way::Children, ""),
        ] {
            assert_eq!(shown(way.from(&document, &items)), expected, "{way:?}");
        }
        let end = Chosen::Selector(CssSelector::read("#b"));
        assert_eq!(shown(Way::NextAll.until(&document, &items[..1], Some(&end))), "");
        assert_eq!(shown(Way::PreviousAll.until(&document, &items[2..], Some(&end))), "");
        assert_eq!(shown(Way::NextAll.until(&document, &items[..1], None)), "li2 li3");
    }

    #[test]
    fn parts_are_counted_from_both_ends() {
        for (from, to, expected) in [
            (1, None, 1..3),
            (1, Some(2), 1..2),
            (-1, None, 2..3),
            (-2, Some(-1), 1..2),
            (5, None, 3..3),
            (-9, Some(1), 0..1),
        ] {
            assert_eq!(part(3, from, to), expected);
        }
    }
}
