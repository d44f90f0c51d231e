//! All functions by their groups: what `faker.GROUP.FUNCTION` finds, and `faker.call`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::make::function::Function;
use super::make::words;
use super::table;

/// A property of a `Faker`.
pub struct Group {
    /// Its name.
    pub name: &'static str,
    /// What its functions make, for people.
    #[cfg_attr(not(test), expect(dead_code, reason = "the declarations are made of it, by a test"))]
    pub about: &'static str,
    /// Its functions, by their names.
    pub functions: Vec<Function>,
}

/// The group that has the functions of all others too. It has none of its own.
pub const ALL: &str = "zen";

/// Name, what it is about, and the functions that are more than a list of `words.txt`. One line a group.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &[Function])] = &[
    ("address", "Addresses and places.", table::places::ADDRESS),
    ("animal", "Animals.", &[]),
    ("app", "Programs.", table::things::APP),
    ("beer", "Beers.", table::things::BEER),
    ("book", "Books.", table::things::BOOK),
    ("br", "Brazil.", table::brazil::BR),
    ("car", "Cars.", table::things::CAR),
    ("celebrity", "Famous people.", &[]),
    ("color", "Colors.", table::things::COLOR),
    ("company", "Companies and jobs.", table::people::COMPANY),
    ("emoji", "Emoji.", &[]),
    ("error", "Messages of errors.", &[]),
    ("file", "Names and types of files.", table::things::FILE),
    ("finance", "Securities.", table::payment::FINANCE),
    ("food", "Food and drinks.", &[]),
    ("game", "Games.", table::numbers::GAME),
    ("hacker", "What hackers say.", table::words::HACKER),
    ("hipster", "What hipsters say.", table::words::HIPSTER),
    ("internet", "Addresses, accounts and requests.", table::internet::INTERNET),
    ("language", "Languages.", &[]),
    ("minecraft", "Minecraft.", &[]),
    ("movie", "Movies.", table::things::MOVIE),
    ("numbers", "Numbers.", table::numbers::NUMBERS_TABLE),
    ("payment", "Cards, accounts and currencies.", table::payment::PAYMENT),
    ("person", "People.", table::people::PERSON),
    ("product", "Goods.", table::things::PRODUCT),
    ("strings", "Letters, digits and texts.", table::numbers::STRINGS_TABLE),
    ("time", "Dates and times.", table::time::TIME),
    ("word", "Words and sentences.", table::words::WORD),
    (ALL, "The functions of all groups.", &[]),
];

/// Each group.
pub static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    let group = |(name, about, own): &(&'static str, &'static str, &[Function])| {
        let mut functions: Vec<Function> = words::functions(name).chain(own.iter().copied()).collect();
        functions.sort_by_key(|function| function.name);
        Group { name, about, functions }
    };
    TABLE.iter().map(group).collect()
});

/// Each function.
pub fn all() -> impl Iterator<Item = &'static Function> {
    GROUPS.iter().flat_map(|group| &group.functions)
}

static BY_NAME: LazyLock<HashMap<String, &'static Function>> =
    LazyLock::new(|| all().map(|function| (function.name.to_ascii_lowercase(), function)).collect());

/// A function by its name, in any case of the letters.
pub fn find(name: &str) -> Option<&'static Function> {
    BY_NAME.get(&name.to_ascii_lowercase()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faker::make::draw::Draw;
    use crate::faker::make::function::{Argument, ArgumentList, ParameterKind};
    use crate::faker::make::made::Made;

    /// What it gives without arguments, or with some where it needs them.
    fn make(function: &Function, draw: &mut Draw) -> Made {
        let given = function.parameters.iter().map(|parameter| {
            parameter.standard().unwrap_or_else(|| match parameter.kind {
                ParameterKind::Number => Argument::Number(3.0),
                ParameterKind::Text => Argument::Text(String::from("#?")),
                ParameterKind::Flag => Argument::Flag(true),
                ParameterKind::Numbers => Argument::Numbers(vec![1.0, 2.0]),
                ParameterKind::Texts => Argument::Texts(vec![String::from("a"), String::from("b")]),
            })
        });
        function.make(draw, &ArgumentList(given.collect())).unwrap_or_else(|why| panic!("{}: {why}", function.name))
    }

    #[test]
    fn names_are_unique() {
        assert_eq!(BY_NAME.len(), all().count());
    }

    #[test]
    fn each_function_of_a_list_is_in_a_group() {
        let listed: usize = TABLE.iter().map(|(name, ..)| words::functions(name).count()).sum();
        let own: usize = TABLE.iter().map(|(.., own)| own.len()).sum();
        assert_eq!((listed + own, listed), (all().count(), words::count()));
    }

    #[test]
    fn every_function_makes_what_it_says_and_the_same_for_a_seed() {
        for function in all() {
            let (mut one, mut other) = (Draw::new(7, find), Draw::new(7, find));
            for _ in 0..50 {
                let made = make(function, &mut one);
                assert_eq!(made, make(function, &mut other), "{}", function.name);
                let gives = match &made {
                    Made::Text(text) => {
                        assert!(!text.is_empty() && !text.contains(['{', '}']), "{}: {text:?}", function.name);
                        "string"
                    }
                    Made::Number(_) => "number",
                    Made::Is(_) => "boolean",
                    Made::List(list) if matches!(list[0], Made::Text(_)) => "string[]",
                    Made::List(_) => "number[]",
                    Made::Record(_) => function.gives,
                };
                assert_eq!(gives, function.gives, "{}", function.name);
            }
        }
    }

    #[test]
    fn values_vary() {
        let one_value = ["intRange", "number", "imageUrl", "float32Range", "float64Range"];
        for function in all().filter(|function| !one_value.contains(&function.name)) {
            let mut draw = Draw::new(1, find);
            let first = make(function, &mut draw);
            assert!((0..100).any(|_| make(function, &mut draw) != first), "{} is always {first:?}", function.name);
        }
    }
}
