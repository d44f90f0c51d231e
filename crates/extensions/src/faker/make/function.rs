//! A function of the table: its name, its parameters, and how a value is made.

use super::draw::Draw;
use super::made::Made;

/// No text or list that is asked for is longer.
const MOST: f64 = 1_000_000.0;

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterKind {
    /// A number.
    Number,
    /// A text.
    Text,
    /// Yes or no.
    Flag,
    /// Numbers.
    Numbers,
    /// Texts.
    Texts,
}

impl ParameterKind {
    /// Its name in TypeScript.
    pub fn name(self) -> &'static str {
        match self {
            ParameterKind::Number => "number",
            ParameterKind::Text => "string",
            ParameterKind::Flag => "boolean",
            ParameterKind::Numbers => "number[]",
            ParameterKind::Texts => "string[]",
        }
    }
}

/// A parameter.
pub struct Parameter {
    /// For people.
    pub name: &'static str,
    /// What it is.
    pub kind: ParameterKind,
    /// What holds when it is not given, as a text; without one it has to be.
    pub default: Option<&'static str>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Texts.
    Texts(Vec<String>),
}

/// The arguments of a call, one for each parameter.
pub struct ArgumentList(pub Vec<Argument>);

impl ArgumentList {
    /// A number.
    pub fn number(&self, index: usize) -> f64 {
        if let Some(Argument::Number(number)) = self.0.get(index) { *number } else { 0.0 }
    }

    /// A number of things to make.
    pub fn count(&self, index: usize) -> Result<usize, String> {
        match self.number(index) {
            count if (0.0..=MOST).contains(&count) => Ok(count as usize),
            count => Err(format!("argument {} is {count}, expected a number from 0 to {MOST}", index + 1)),
        }
    }

    /// Two numbers, the first not above the second.
    pub fn range(&self) -> Result<(f64, f64), String> {
        match (self.number(0), self.number(1)) {
            (min, max) if min <= max => Ok((min, max)),
            (min, max) => Err(format!("found the range from {min} to {max}, expected the smaller number first")),
        }
    }

    /// A text.
    pub fn text(&self, index: usize) -> &str {
        if let Some(Argument::Text(text)) = self.0.get(index) { text } else { "" }
    }

    /// Yes or no.
    pub fn flag(&self, index: usize) -> bool {
        matches!(self.0.get(index), Some(Argument::Flag(true)))
    }

    /// Numbers.
    pub fn numbers(&self, index: usize) -> &[f64] {
        if let Some(Argument::Numbers(numbers)) = self.0.get(index) { numbers } else { &[] }
    }

    /// Texts.
    pub fn texts(&self, index: usize) -> &[String] {
        if let Some(Argument::Texts(texts)) = self.0.get(index) { texts } else { &[] }
    }
}

/// How a value is made. The error says what is wrong with an argument.
#[derive(Clone, Copy)]
pub enum Make {
    /// One of the list of `words.txt` that has the function's name.
    Word,
    /// One of a list.
    Pick(&'static [&'static str]),
    /// From chance alone.
    Draw(fn(&mut Draw) -> Made),
    /// From chance and arguments.
    With(fn(&mut Draw, &ArgumentList) -> Result<Made, String>),
}

/// A function.
#[derive(Clone, Copy)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What it gives, in TypeScript.
    #[cfg_attr(not(test), expect(dead_code, reason = "the declarations are made of it, by a test"))]
    pub gives: &'static str,
    /// What the value is, for people.
    #[cfg_attr(not(test), expect(dead_code, reason = "the declarations are made of it, by a test"))]
    pub about: &'static str,
    make: Make,
}

impl Function {
    /// Makes a value.
    pub fn make(&self, draw: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
        match &self.make {
            Make::Word => Ok(draw.word(self.name).into()),
            Make::Pick(list) => Ok(draw.pick(list).into()),
            Make::Draw(make) => Ok(make(draw)),
            Make::With(make) => make(draw, given),
        }
    }

    /// Makes a value without arguments; nothing where one is needed.
    pub fn make_plain(&self, draw: &mut Draw) -> Made {
        let defaults = self.parameters.iter().map(Parameter::standard).collect::<Option<Vec<_>>>();
        defaults.and_then(|given| self.make(draw, &ArgumentList(given)).ok()).unwrap_or_else(|| "".into())
    }
}

impl Parameter {
    /// What holds when it is not given.
    pub fn standard(&self) -> Option<Argument> {
        let text = self.default?;
        Some(match self.kind {
            ParameterKind::Number => Argument::Number(text.parse().unwrap_or_default()),
            ParameterKind::Text => Argument::Text(text.to_owned()),
            ParameterKind::Flag => Argument::Flag(text == "true"),
            ParameterKind::Numbers => Argument::Numbers(text.split(',').filter_map(|one| one.parse().ok()).collect()),
            ParameterKind::Texts => {
                Argument::Texts(text.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect())
            }
        })
    }
}

/// A text of the list with the function's name.
pub const fn word(name: &'static str, about: &'static str) -> Function {
    Function { name, parameters: &[], gives: "string", about, make: Make::Word }
}

/// A text of a list.
pub const fn pick(name: &'static str, list: &'static [&'static str], about: &'static str) -> Function {
    Function { name, parameters: &[], gives: "string", about, make: Make::Pick(list) }
}

/// A value without parameters.
pub const fn draw(
    name: &'static str,
    gives: &'static str,
    about: &'static str,
    make: fn(&mut Draw) -> Made,
) -> Function {
    Function { name, parameters: &[], gives, about, make: Make::Draw(make) }
}

/// A value with parameters.
pub const fn with(
    name: &'static str,
    parameters: &'static [Parameter],
    gives: &'static str,
    about: &'static str,
    make: fn(&mut Draw, &ArgumentList) -> Result<Made, String>,
) -> Function {
    Function { name, parameters, gives, about, make: Make::With(make) }
}

/// A parameter that has to be given.
pub const fn required(name: &'static str, kind: ParameterKind) -> Parameter {
    Parameter { name, kind, default: None }
}

/// A number, with what holds when it is not given.
pub const fn number(name: &'static str, default: &'static str) -> Parameter {
    Parameter { name, kind: ParameterKind::Number, default: Some(default) }
}

/// A text, with what holds when it is not given.
pub const fn text(name: &'static str, default: &'static str) -> Parameter {
    Parameter { name, kind: ParameterKind::Text, default: Some(default) }
}

/// Yes or no, with what holds when it is not given.
pub const fn flag(name: &'static str, default: &'static str) -> Parameter {
    Parameter { name, kind: ParameterKind::Flag, default: Some(default) }
}
