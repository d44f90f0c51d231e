//! The lists of `words.txt`, and the functions that give an entry of one: two thirds of all functions.
//!
//! A list begins with its name and a colon, its entries have `|` between them, and lines that begin with a space belong
//! to the list above. `{name}` in an entry is a value of the function of that name. A line `@group What it is.` makes a
//! function of the list below it.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::function::{Function, word};

/// What the text has.
#[derive(Default)]
struct WordLists {
    lists: HashMap<&'static str, Vec<&'static str>>,
    /// Each with its group.
    functions: Vec<(&'static str, Function)>,
}

static WORDS: LazyLock<WordLists> = LazyLock::new(|| read(include_str!("words.txt")));

/// The entries of a list. The tests draw from each list that a function names.
pub fn list(name: &str) -> &'static [&'static str] {
    WORDS.lists.get(name).unwrap_or_else(|| panic!("a bug: words.txt has no list {name}"))
}

/// The functions of a group that give an entry of a list.
pub fn functions(group: &str) -> impl Iterator<Item = Function> {
    WORDS.functions.iter().filter(move |(of, _)| *of == group).map(|(_, function)| *function)
}

/// How many functions there are of all groups.
#[cfg(test)]
pub fn count() -> usize {
    WORDS.functions.len()
}

fn read(text: &'static str) -> WordLists {
    let mut words = WordLists::default();
    let (mut name, mut described) = ("", None);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(of_function) = line.strip_prefix('@') {
            described = of_function.split_once(' ');
            continue;
        }
        let mut entries = line;
        if let Some((begun, rest)) = line.split_once(':').filter(|_| !line.starts_with(' ')) {
            (name, entries) = (begun, rest);
            words.functions.extend(described.take().map(|(group, about)| (group, word(begun, about))));
        }
        let entries = entries.split('|').map(str::trim).filter(|entry| !entry.is_empty());
        words.lists.entry(name).or_default().extend(entries);
    }
    words
}
