//! The lists of `words.txt`: a list begins with its name and a colon, its entries have `|` between them, and lines that
//! begin with a space belong to the list above. `{name}` in an entry is a value of the function of that name.

use std::collections::HashMap;
use std::sync::LazyLock;

static LISTS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| read(include_str!("words.txt")));

/// The entries of a list. The tests draw from each list that a function names.
pub fn list(name: &str) -> &'static [&'static str] {
    LISTS.get(name).unwrap_or_else(|| panic!("a bug: words.txt has no list {name}"))
}

fn read(text: &'static str) -> HashMap<&'static str, Vec<&'static str>> {
    let mut lists: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut name = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut entries = line;
        if let Some((begun, rest)) = line.split_once(':').filter(|_| !line.starts_with(' ')) {
            (name, entries) = (begun, rest);
        }
        let entries = entries.split('|').map(str::trim).filter(|entry| !entry.is_empty());
        lists.entry(name).or_default().extend(entries);
    }
    lists
}
