//! From the text of a selector to its conditions.

use html5ever::LocalName;
use regex_lite::Regex;

use super::{Chain, Combinator, Compound, Condition, CssSelector, Nth, PseudoClass, Test, Word};

/// The text is no selector.
#[derive(Debug, PartialEq, Eq)]
struct Unreadable;

type Parsed<T> = Result<T, Unreadable>;

impl CssSelector {
    /// The selector that a text is; nothing when it is none.
    pub fn read(text: &str) -> Option<CssSelector> {
        let mut reader = Reader { rest: text, depth: 0 };
        let selector = reader.group().ok()?;
        reader.rest.is_empty().then_some(selector)
    }
}

/// Deeper selectors in selectors are refused, because reading and matching them takes a stack.
const DEEPEST: u32 = 32;

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn group(&mut self) -> Parsed<CssSelector> {
        let mut chains = vec![self.chain()?];
        while self.take(",") {
            chains.push(self.chain()?);
        }
        Ok(CssSelector { chains })
    }

    fn chain(&mut self) -> Parsed<Chain> {
        self.spaces();
        let mut chain = Chain { last: self.compound()?, before: Vec::new() };
        loop {
            let spaced = self.spaces();
            let combinator = match self.rest.bytes().next() {
                None | Some(b',' | b')') => break,
                Some(b'>') => Combinator::Child,
                Some(b'+') => Combinator::Adjacent,
                Some(b'~') => Combinator::Sibling,
                Some(_) if spaced => Combinator::Descendant,
                Some(_) => return Err(Unreadable),
            };
            if combinator != Combinator::Descendant {
                self.rest = &self.rest[1..];
                self.spaces();
            }
            let next = self.compound()?;
            let passed = std::mem::replace(&mut chain.last, next);
            chain.before.insert(0, (combinator, passed));
        }
        Ok(chain)
    }

    fn compound(&mut self) -> Parsed<Compound> {
        let mut compound = Compound::default();
        let before = self.rest.len();
        if !self.take("*") && !self.rest.starts_with(['#', '.', '[', ':']) {
            let name = self.identifier()?.to_ascii_lowercase();
            compound.conditions.push(Condition::Tag(LocalName::from(name)));
        }
        loop {
            let condition = match self.rest.bytes().next() {
                Some(b'#') => {
                    self.rest = &self.rest[1..];
                    Condition::Id(self.name()?)
                }
                Some(b'.') => {
                    self.rest = &self.rest[1..];
                    Condition::Class(self.identifier()?)
                }
                Some(b'[') => self.attribute()?,
                Some(b':') => self.pseudo_class()?,
                _ => break,
            };
            compound.conditions.push(condition);
        }
        if self.rest.len() == before { Err(Unreadable) } else { Ok(compound) }
    }

    fn attribute(&mut self) -> Parsed<Condition> {
        self.expect("[")?;
        self.spaces();
        let name = self.identifier()?.to_ascii_lowercase();
        self.spaces();
        if self.take("]") {
            return Ok(Condition::Attribute { name, test: Test::Present });
        }
        type MakeTest = fn(Word) -> Test;
        const OPERATORS: [(&str, MakeTest); 7] = [
            ("=", Test::Equals),
            ("!=", Test::Differs),
            ("~=", Test::Includes),
            ("|=", Test::Dash),
            ("^=", Test::Begins),
            ("$=", Test::Ends),
            ("*=", Test::Holds),
        ];
        if self.take("#=") {
            self.spaces();
            let regex = self.regex(']')?;
            return Ok(Condition::Attribute { name, test: Test::Regex(regex) });
        }
        let (_, test) = OPERATORS.iter().find(|(sign, _)| self.take(sign)).ok_or(Unreadable)?;
        self.spaces();
        let text = self.string_or_identifier()?;
        self.spaces();
        let any_case = self.take("i") || self.take("I");
        if !any_case {
            _ = self.take("s") || self.take("S");
        }
        self.spaces();
        self.expect("]")?;
        Ok(Condition::Attribute { name, test: test(Word { text, any_case }) })
    }

    fn pseudo_class(&mut self) -> Parsed<Condition> {
        self.expect(":")?;
        let name = self.identifier()?.to_ascii_lowercase();
        if let Some((_, state)) = PseudoClass::NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(Condition::PseudoClass(*state));
        }
        let nth = |offset, from_end, of_type, only| Condition::Nth(Nth { step: 0, offset, from_end, of_type, only });
        match name.as_str() {
            "first-child" => return Ok(nth(1, false, false, false)),
            "last-child" => return Ok(nth(1, true, false, false)),
            "first-of-type" => return Ok(nth(1, false, true, false)),
            "last-of-type" => return Ok(nth(1, true, true, false)),
            "only-child" => return Ok(nth(1, false, false, true)),
            "only-of-type" => return Ok(nth(1, false, true, true)),
            _ => {}
        }
        self.expect("(")?;
        self.spaces();
        let condition = self.argument(&name)?;
        self.spaces();
        self.expect(")")?;
        Ok(condition)
    }

    fn argument(&mut self, name: &str) -> Parsed<Condition> {
        let own = name.ends_with("own");
        match name {
            "not" => self.inner().map(Condition::Not),
            "has" => Ok(Condition::Has(self.inner()?, false)),
            "haschild" => Ok(Condition::Has(self.inner()?, true)),
            "contains" | "containsown" => Ok(Condition::Contains(self.string_or_identifier()?.to_lowercase(), own)),
            "matches" | "matchesown" => Ok(Condition::Matches(self.regex(')')?, own)),
            "lang" => self.identifier().map(Condition::Language),
            "nth-child" | "nth-last-child" | "nth-of-type" | "nth-last-of-type" => {
                let (step, offset) = self.steps()?;
                let (from_end, of_type) = (name.contains("last"), name.ends_with("type"));
                Ok(Condition::Nth(Nth { step, offset, from_end, of_type, only: false }))
            }
            _ => Err(Unreadable),
        }
    }

    fn inner(&mut self) -> Parsed<CssSelector> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Unreadable);
        }
        let selector = self.group();
        self.depth -= 1;
        selector
    }

    /// `odd`, `even`, `3`, `2n+1`, `-n + 3`.
    fn steps(&mut self) -> Parsed<(i32, i32)> {
        let end = self.rest.find(')').ok_or(Unreadable)?;
        let text: String = self.rest[..end].split_ascii_whitespace().collect::<String>().to_ascii_lowercase();
        self.rest = &self.rest[end..];
        let number = |text: &str| text.strip_prefix('+').unwrap_or(text).parse::<i32>().map_err(|_| Unreadable);
        match (text.as_str(), text.split_once('n')) {
            ("odd", _) => Ok((2, 1)),
            ("even", _) => Ok((2, 0)),
            (text, None) => Ok((0, number(text)?)),
            (_, Some((step, offset))) => {
                let step = match step {
                    "" | "+" => 1,
                    "-" => -1,
                    step => number(step)?,
                };
                Ok((step, if offset.is_empty() { 0 } else { number(offset)? }))
            }
        }
    }

    /// Up to the bracket that closes what is open, as it stands.
    fn regex(&mut self, close: char) -> Parsed<Regex> {
        let mut open = 0;
        for (at, character) in self.rest.char_indices() {
            match character {
                _ if character == close && open == 0 => {
                    let regex = Regex::new(&self.rest[..at]).map_err(|_| Unreadable)?;
                    self.rest = if close == ']' { &self.rest[at + 1..] } else { &self.rest[at..] };
                    return Ok(regex);
                }
                '(' | '[' => open += 1,
                ')' | ']' => open -= 1,
                _ => {}
            }
        }
        Err(Unreadable)
    }

    fn string_or_identifier(&mut self) -> Parsed<String> {
        let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return self.identifier();
        };
        self.rest = &self.rest[1..];
        let mut text = String::new();
        loop {
            let character = self.rest.chars().next().ok_or(Unreadable)?;
            match character {
                '\\' => text.extend(self.escaped()?),
                '\n' => return Err(Unreadable),
                _ => {
                    self.rest = &self.rest[character.len_utf8()..];
                    if character == quote {
                        return Ok(text);
                    }
                    text.push(character);
                }
            }
        }
    }

    /// A name that begins with no digit.
    fn identifier(&mut self) -> Parsed<String> {
        let start = self.rest.strip_prefix('-').unwrap_or(self.rest);
        match start.chars().next() {
            Some(first) if is_name(first) && !first.is_ascii_digit() && first != '-' => self.name(),
            Some('\\') => self.name(),
            _ => Err(Unreadable),
        }
    }

    fn name(&mut self) -> Parsed<String> {
        let mut name = String::new();
        while let Some(character) = self.rest.chars().next() {
            match character {
                '\\' => name.extend(self.escaped()?),
                _ if is_name(character) => {
                    name.push(character);
                    self.rest = &self.rest[character.len_utf8()..];
                }
                _ => break,
            }
        }
        if name.is_empty() { Err(Unreadable) } else { Ok(name) }
    }

    /// What a backslash stands for: up to six hexadecimal digits and a space, a line break that is nothing, or the
    /// character behind it.
    fn escaped(&mut self) -> Parsed<Option<char>> {
        let rest = &self.rest[1..];
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits > 0 {
            let code = u32::from_str_radix(&rest[..digits], 16).map_err(|_| Unreadable)?;
            self.rest = rest[digits..].strip_prefix([' ', '\n', '\t']).unwrap_or(&rest[digits..]);
            return Ok(Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)));
        }
        let character = rest.chars().next().ok_or(Unreadable)?;
        self.rest = &rest[character.len_utf8()..];
        Ok((character != '\n').then_some(character))
    }

    fn spaces(&mut self) -> bool {
        let trimmed = self.rest.trim_start_matches([' ', '\t', '\r', '\n', '\x0c']);
        let any = trimmed.len() < self.rest.len();
        self.rest = trimmed;
        any
    }

    fn take(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.take(sign) { Ok(()) } else { Err(Unreadable) }
    }
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_') || !character.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::document::Document;

    #[test]
    fn selectors_select() {
        let text = "<h1 id=a class='x y'>Hi <b>there</b></h1><ul lang=en-GB><li>one<li>two<li class=z>three</ul>\
                    <form><input name=n><input type=checkbox checked disabled>\
                    <select><option selected>A</select></form>\
                    <a href='https://h.com/p#f'>l</a>";
        let document = Document::parse(text, "");
        for (selector, count) in [
            ("li", 3),
            ("LI", 3),
            ("*", 15),
            ("#a.x.y", 1),
            ("h1 , li", 4),
            ("ul > li + li", 2),
            ("li ~ li", 2),
            ("body b", 1),
            ("li:contains(\"TW\")", 1),
            ("ul:has(.z)", 1),
            ("body:haschild(ul)", 1),
            ("li:not(.z, :first-child)", 1),
            ("li:nth-child(2n+1)", 2),
            ("li:nth-child(-n + 2)", 2),
            ("li:nth-last-of-type(odd)", 2),
            ("li:matches(^t.)", 2),
            ("b:only-child", 1),
            ("[class=Z i]", 1),
            ("li[class!=z]", 2),
            ("li[class#=^z$]", 1),
            ("a[href^=https]", 1),
            ("a[href$='#f']", 1),
            ("a[href*=\"h.com\"]", 1),
            (":input", 3),
            (":checked", 2),
            (":disabled", 1),
            (":lang(en)", 4),
            (":root", 1),
            ("a:link", 1),
            ("h1:containsOwn(there)", 0),
            ("a:hover", 0),
            ("\\6c i", 3),
        ] {
            let read = CssSelector::read(selector).unwrap_or_else(|| panic!("{selector} is a selector"));
            assert_eq!(read.select(&document, Document::ROOT).count(), count, "{selector}");
        }
    }

    #[test]
    fn long_selectors_and_deep_documents_take_no_time() {
        let document = Document::parse(&"<div>".repeat(400), "");
        let none = format!("b {}", "div ".repeat(40));
        assert_eq!(CssSelector::read(&none).expect("it is one").select(&document, Document::ROOT).count(), 0);
        let all = "div ".repeat(40);
        assert_eq!(CssSelector::read(&all).expect("it is one").select(&document, Document::ROOT).count(), 361);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            " ",
            "li[",
            "li,",
            "> li",
            ":bogus",
            "li:eq(1)",
            "h1::before",
            "li:is(.z)",
            "[href*=h.com]",
            "1a",
            "a)",
        ] {
            assert!(CssSelector::read(text).is_none(), "{text}");
        }
        let deep = format!("{}a{}", ":not(".repeat(1000), ")".repeat(1000));
        assert!(CssSelector::read(&deep).is_none());
    }
}
