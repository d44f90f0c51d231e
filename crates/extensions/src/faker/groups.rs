//! All functions by their groups: what `faker.GROUP.FUNCTION` finds, and `faker.call`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::make::function::Function;
use super::table;

/// A property of a `Faker`.
pub struct Group {
    /// Its name.
    pub name: &'static str,
    /// What its functions make, for people.
    #[cfg_attr(not(test), expect(dead_code, reason = "the declarations are made of it, by a test"))]
    pub about: &'static str,
    /// Its functions.
    pub functions: &'static [Function],
}

/// The group that has the functions of all others too. It has none of its own.
pub const ALL: &str = "zen";

/// Each group. One line a group.
#[rustfmt::skip]
pub static GROUPS: &[Group] = &[
    Group { name: "address", about: "Addresses and places.", functions: table::places::ADDRESS },
    Group { name: "animal", about: "Animals.", functions: table::nature::ANIMAL },
    Group { name: "app", about: "Programs.", functions: table::things::APP },
    Group { name: "beer", about: "Beers.", functions: table::nature::BEER },
    Group { name: "book", about: "Books.", functions: table::things::BOOK },
    Group { name: "br", about: "Brazil.", functions: table::brazil::BR },
    Group { name: "car", about: "Cars.", functions: table::things::CAR },
    Group { name: "celebrity", about: "Famous people.", functions: table::things::CELEBRITY },
    Group { name: "color", about: "Colors.", functions: table::things::COLOR },
    Group { name: "company", about: "Companies and jobs.", functions: table::people::COMPANY },
    Group { name: "emoji", about: "Emoji.", functions: table::words::EMOJI },
    Group { name: "error", about: "Messages of errors.", functions: table::words::ERROR },
    Group { name: "file", about: "Names and types of files.", functions: table::things::FILE },
    Group { name: "finance", about: "Securities.", functions: table::payment::FINANCE },
    Group { name: "food", about: "Food and drinks.", functions: table::nature::FOOD },
    Group { name: "game", about: "Games.", functions: table::numbers::GAME },
    Group { name: "hacker", about: "What hackers say.", functions: table::words::HACKER },
    Group { name: "hipster", about: "What hipsters say.", functions: table::words::HIPSTER },
    Group { name: "internet", about: "Addresses, accounts and requests.", functions: table::internet::INTERNET },
    Group { name: "language", about: "Languages.", functions: table::words::LANGUAGE },
    Group { name: "minecraft", about: "Minecraft.", functions: table::nature::MINECRAFT },
    Group { name: "movie", about: "Movies.", functions: table::things::MOVIE },
    Group { name: "numbers", about: "Numbers.", functions: table::numbers::NUMBERS_TABLE },
    Group { name: "payment", about: "Cards, accounts and currencies.", functions: table::payment::PAYMENT },
    Group { name: "person", about: "People.", functions: table::people::PERSON },
    Group { name: "product", about: "Goods.", functions: table::things::PRODUCT },
    Group { name: "strings", about: "Letters, digits and texts.", functions: table::numbers::STRINGS_TABLE },
    Group { name: "time", about: "Dates and times.", functions: table::time::TIME },
    Group { name: "word", about: "Words and sentences.", functions: table::words::WORD },
    Group { name: ALL, about: "The functions of all groups.", functions: &[] },
];

/// Each function.
pub fn all() -> impl Iterator<Item = &'static Function> {
    GROUPS.iter().flat_map(|group| group.functions)
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
