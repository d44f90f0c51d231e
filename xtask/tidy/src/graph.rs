//! Circles in a graph of imports, and the fewest arrows whose removal would open one.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Strongly connected components of more than one node, the largest first; nodes in order.
pub fn circles(nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut forward = vec![Vec::new(); nodes];
    let mut backward = vec![Vec::new(); nodes];
    for &(from, to) in edges {
        forward[from].push(to);
        backward[to].push(from);
    }
    let mut finished = Vec::new();
    let mut seen = vec![false; nodes];
    for start in 0..nodes {
        collect(&forward, start, &mut seen, &mut finished);
    }
    let mut seen = vec![false; nodes];
    let mut circles: Vec<Vec<usize>> = Vec::new();
    for &start in finished.iter().rev() {
        let mut members = Vec::new();
        collect(&backward, start, &mut seen, &mut members);
        if members.len() > 1 {
            members.sort_unstable();
            circles.push(members);
        }
    }
    circles.sort_by_key(|members| (Reverse(members.len()), members[0]));
    circles
}

/// Everything reached from `start` that was not seen, in the order in which it is finished.
fn collect(graph: &[Vec<usize>], start: usize, seen: &mut [bool], finished: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((node, next)) = path.last_mut() {
        if let Some(&to) = graph[*node].get(*next) {
            *next += 1;
            if !std::mem::replace(&mut seen[to], true) {
                path.push((to, 0));
            }
        } else {
            finished.push(*node);
            path.pop();
        }
    }
}

/// Few arrows among `members` without which they form no circle: those that point backwards when nodes are put in
/// order, sources first and sinks last (Eades, Lin and Smyth). Near the fewest, not always the fewest.
pub fn cuts(members: &[usize], edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let inside: BTreeSet<(usize, usize)> = edges
        .iter()
        .copied()
        .filter(|(from, to)| from != to && members.contains(from) && members.contains(to))
        .collect();
    let mut left: BTreeSet<usize> = members.iter().copied().collect();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    while !left.is_empty() {
        let degree = |node: usize| {
            let out = inside.iter().filter(|(from, to)| *from == node && left.contains(to)).count();
            let into = inside.iter().filter(|(from, to)| *to == node && left.contains(from)).count();
            (out, into)
        };
        let chosen = left.iter().copied().find(|node| degree(*node).0 == 0);
        if let Some(sink) = chosen {
            last.push(sink);
            left.remove(&sink);
            continue;
        }
        let source = left.iter().copied().max_by_key(|node| {
            let (out, into) = degree(*node);
            (into == 0, out as isize - into as isize, Reverse(*node))
        });
        let Some(source) = source else { break };
        first.push(source);
        left.remove(&source);
    }
    first.extend(last.into_iter().rev());
    let place = |node: usize| first.iter().position(|other| *other == node);
    inside.into_iter().filter(|(from, to)| place(*from) > place(*to)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_reach_each_other_are_one_circle() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 0)];
        assert_eq!(circles(6, &edges), [vec![0, 1, 2], vec![3, 4]]);
        assert!(circles(3, &[(0, 1), (1, 2), (0, 2)]).is_empty());
    }

    #[test]
    fn cutting_the_named_arrows_opens_the_circle() {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)];
        let cut = cuts(&[0, 1, 2, 3], &edges);
        assert_eq!(cut, [(3, 0)]);
        let open: Vec<_> = edges.into_iter().filter(|edge| !cut.contains(edge)).collect();
        assert!(circles(4, &open).is_empty());
    }
}
