//! Text that holds expressions: a URL with a variable in it, a body made of a column of a file.
//!
//! Formats have a syntax of their own for variables (`{{name}}`, `${name}`); each reads its own into this, and the
//! writer knows this alone. A piece of text is text, whatever characters it has; only a piece of code is code.

use crate::source;

/// Pieces of text and of JavaScript, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Piece {
    Text(String),
    Code(String),
}

impl Template {
    /// Text alone.
    pub fn text(text: impl Into<String>) -> Template {
        let mut template = Template::default();
        template.push_text(&text.into());
        template
    }

    /// An expression alone.
    pub fn code(expression: impl Into<String>) -> Template {
        Template { pieces: vec![Piece::Code(expression.into())] }
    }

    /// Adds text.
    pub fn push_text(&mut self, more: &str) {
        match self.pieces.last_mut() {
            _ if more.is_empty() => {}
            Some(Piece::Text(text)) => text.push_str(more),
            _ => self.pieces.push(Piece::Text(more.to_owned())),
        }
    }

    /// Adds an expression.
    pub fn push_code(&mut self, expression: &str) {
        self.pieces.push(Piece::Code(expression.to_owned()));
    }

    /// Adds another.
    pub fn push(&mut self, more: &Template) {
        for piece in &more.pieces {
            match piece {
                Piece::Text(text) => self.push_text(text),
                Piece::Code(code) => self.push_code(code),
            }
        }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The text, when it has no expressions.
    pub fn as_text(&self) -> Option<&str> {
        match &self.pieces[..] {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether a piece of text has this character.
    pub fn has_text(&self, c: char) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(c)))
    }

    /// The text it begins with.
    pub fn leading_text(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// The same with code in the place of the first `length` bytes of its leading text.
    pub fn with_leading_code(&self, length: usize, expression: &str) -> Template {
        let mut template = Template::code(expression);
        template.push(&self.without_leading(length));
        template
    }

    /// Pieces of text and of code, changed.
    pub fn with_pieces(&self, text: impl Fn(&str) -> String, code: impl Fn(&str) -> String) -> Template {
        let mut template = Template::default();
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => template.push_text(&text(piece)),
                Piece::Code(piece) => template.push_code(&code(piece)),
            }
        }
        template
    }

    /// The same without the first `length` bytes of its leading text.
    pub fn without_leading(&self, length: usize) -> Template {
        let mut template = Template::default();
        template.push_text(self.leading_text().get(length..).unwrap_or_default());
        let rest = self.pieces.iter().skip(usize::from(matches!(self.pieces.first(), Some(Piece::Text(_)))));
        rest.for_each(|piece| template.push(&Template { pieces: vec![piece.clone()] }));
        template
    }

    /// As JavaScript: a literal, an expression, or a template literal.
    pub fn expression(&self) -> String {
        let is_text = |piece: &Piece| matches!(piece, Piece::Text(_));
        debug_assert!(!self.pieces.windows(2).any(|two| two.iter().all(is_text)), "texts side by side are one");
        match &self.pieces[..] {
            [] => String::from("''"),
            [Piece::Text(text)] => source::long_text(text),
            [Piece::Code(code)] => code.clone(),
            pieces => {
                let pieces = pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => source::inside_backticks(text),
                    Piece::Code(code) => format!("${{{code}}}"),
                });
                format!("`{}`", pieces.collect::<String>())
            }
        }
    }
}

/// Reads text with marked names, such as `{{name}}`: `value` says what a name stands for, or nothing when the mark is
/// text.
pub fn read(text: &str, open: &str, close: &str, mut value: impl FnMut(&str) -> Option<Template>) -> Template {
    let (mut template, mut rest) = (Template::default(), text);
    while let Some(at) = rest.find(open) {
        let behind = &rest[at + open.len()..];
        let Some(end) = behind.find(close) else { break };
        template.push_text(&rest[..at]);
        match value(&behind[..end]) {
            Some(found) => {
                template.push(&found);
                rest = &behind[end + close.len()..];
            }
            None => {
                template.push_text(open);
                rest = behind;
            }
        }
    }
    template.push_text(rest);
    template
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_written_as_a_person_would() {
        assert_eq!(Template::default().expression(), "''");
        assert_eq!(Template::text("a").expression(), "'a'");
        let mut both = Template::text("http://h/`${a}\\");
        both.push_code("id");
        assert_eq!(both.expression(), "`http://h/\\`\\${a}\\\\${id}`");
        assert_eq!(both.with_leading_code(8, "BASE").expression(), "`${BASE}/\\`\\${a}\\\\${id}`");
        assert_eq!(Template::code("x").with_leading_code(0, "B").expression(), "`${B}${x}`");
    }

    #[test]
    fn marks_are_read() {
        let known = |name: &str| (name == "id").then(|| Template::code("id"));
        assert_eq!(read("a{{id}}b{{no}}{{", "{{", "}}", known).expression(), "`a${id}b{{no}}{{`");
        assert_eq!(read("plain", "{{", "}}", known).as_text(), Some("plain"));
    }
}
