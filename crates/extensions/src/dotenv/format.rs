//! The text of a `.env` file: names and values out of it, and back.
//!
//! The dialect is that of Go's library godotenv, found by trying it. What it makes a variable without a name of (a name
//! alone, text behind a closing quote) is an error here, with its line.

use std::collections::BTreeMap;

/// Bytes that variables add to a value, and to all of them, at most. Values that hold values twice that hold values
/// twice would soon fill the memory.
const LONGEST: usize = 1 << 20;

/// Names and values in the order of the text. A name that comes again is listed again; the last one counts.
pub type Variables = Vec<(String, String)>;

/// Reads a text. The error says which line it is about.
pub fn parse(text: &str) -> Result<Variables, String> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut rest = Remainder { text: &text, line: 1 };
    let (mut known, mut held) = (Variables::new(), 0);
    while rest.skip_to_statement() {
        let name = rest.name()?;
        let value = rest.value(&known)?;
        held += value.len();
        if held > LONGEST + text.len() {
            return Err(rest.too_long());
        }
        known.push((name, value));
    }
    Ok(known)
}

/// Writes variables so that `parse` reads the same again: by name, whole numbers bare, everything else in quotes.
pub fn stringify(variables: &BTreeMap<String, String>) -> String {
    let line = |(name, value): (&String, &String)| {
        if value.parse().is_ok_and(|number: i64| number.to_string() == *value) {
            return format!("{name}={value}");
        }
        let mut line = format!("{name}=\"");
        for letter in value.chars() {
            match letter {
                '\n' => line.push_str("\\n"),
                '\r' => line.push_str("\\r"),
                '\\' | '"' | '!' | '$' | '`' => line.extend(['\\', letter]),
                letter => line.push(letter),
            }
        }
        line + "\""
    };
    variables.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What was not read yet, and the number of the line where it begins.
struct Remainder<'a> {
    text: &'a str,
    line: usize,
}

impl<'a> Remainder<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.text.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.text = rest;
        taken
    }

    fn error(&self, why: &str) -> String {
        format!("line {}: {why}", self.line)
    }

    fn too_long(&self) -> String {
        self.error(&format!("with the values of its variables it becomes longer than {LONGEST} bytes"))
    }

    /// To the end of the line, or of the text.
    fn line_length(&self) -> usize {
        self.text.find('\n').unwrap_or(self.text.len())
    }

    /// Leaves blank lines and comments out; whether anything follows.
    fn skip_to_statement(&mut self) -> bool {
        loop {
            let blank = self.text.len() - self.text.trim_start().len();
            self.take(blank);
            if !self.text.starts_with('#') {
                return !self.text.is_empty();
            }
            self.take(self.line_length());
        }
    }

    /// The name and what stands between it and its value.
    fn name(&mut self) -> Result<String, String> {
        let line = &self.text[..self.line_length()];
        let Some(end) = line.find(['=', ':']) else {
            return Err(self.error(&format!("found {line:?}, expected NAME=value")));
        };
        let (found, trimmed) = (&line[..end], line[..end].trim());
        let after_export = trimmed.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t']));
        let name = after_export.unwrap_or(trimmed).trim();
        let is_fitting = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
        if name.is_empty() || !name.chars().all(is_fitting) {
            let expected = "expected a name of ASCII letters, digits, `_` and `.`";
            return Err(self.error(&format!("found {found:?} before {:?}, {expected}", &line[end..=end])));
        }
        self.take(end + 1);
        let space = self.text.len() - self.text.trim_start_matches([' ', '\t']).len();
        self.take(space);
        Ok(name.to_owned())
    }

    fn value(&mut self, known: &Variables) -> Result<String, String> {
        let quote = match self.text.chars().next() {
            Some(quote @ ('"' | '\'')) => quote,
            _ => {
                let line = &self.text[..self.line_length()];
                let value = expand(without_comment(line).trim(), known, Escapes::Dollar);
                let value = value.ok_or_else(|| self.too_long())?;
                self.take(self.line_length());
                return Ok(value);
            }
        };
        let Some(end) = closing(&self.text[1..], quote) else {
            return Err(self.error(&format!("the value begins with {quote}, expected a closing {quote}")));
        };
        let value = match &self.text[1..=end] {
            plain if quote == '\'' => plain.to_owned(),
            escaped => expand(escaped, known, Escapes::All).ok_or_else(|| self.too_long())?,
        };
        self.take(end + 2);
        let after = self.text[..self.line_length()].trim();
        if !after.is_empty() && !after.starts_with('#') {
            return Err(self.error(&format!("found {after:?} behind the closing {quote}, expected the line's end")));
        }
        self.take(self.line_length());
        Ok(value)
    }
}

/// Where the quote closes that is open at the beginning. A backslash keeps the quote behind it from closing.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(place, letter)| {
        let closes = letter == quote && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        closes.then_some(place)
    })
}

/// A comment begins at the first `#` that stands behind a space; one at the value's beginning is the value's.
fn without_comment(line: &str) -> &str {
    let begins = |(place, _): &(usize, &str)| line[..*place].ends_with([' ', '\t']);
    line.match_indices('#').find(begins).map_or(line, |(place, _)| &line[..place])
}

/// What a backslash means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// Before `$` it keeps the dollar; anywhere else it is itself.
    Dollar,
    /// `\n` and `\r` are the characters they name; before any other character it goes.
    All,
}

/// Puts the values of `$NAME` and `${NAME}` in: of names in capitals that stand above in the same text. Of others
/// nothing. None where that becomes too long.
fn expand(text: &str, known: &Variables, escapes: Escapes) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(['\\', '$']) {
        out.push_str(&rest[..place]);
        let is_dollar = rest[place..].starts_with('$');
        rest = &rest[place + 1..];
        if is_dollar {
            rest = expand_one(rest, known, &mut out);
            if out.len() > LONGEST {
                return None;
            }
            continue;
        }
        match rest.chars().next() {
            Some(letter) if escapes == Escapes::All || letter == '$' => {
                out.push(match letter {
                    'n' if escapes == Escapes::All => '\n',
                    'r' if escapes == Escapes::All => '\r',
                    letter => letter,
                });
                rest = &rest[letter.len_utf8()..];
            }
            _ => out.push('\\'),
        }
    }
    Some(out + rest)
}

/// What stands behind a dollar; returns the rest.
fn expand_one<'a>(rest: &'a str, known: &Variables, out: &mut String) -> &'a str {
    let bare = rest.strip_prefix('{').unwrap_or(rest);
    let is_of_name = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let end = bare.find(|letter| !is_of_name(letter)).unwrap_or(bare.len());
    let (name, after) = bare.split_at(end);
    if name.is_empty() {
        out.push('$');
        return rest;
    }
    let value = known.iter().rev().find(|(known, _)| known == name);
    out.push_str(value.map_or("", |(_, value)| value));
    if bare.len() < rest.len() { after.strip_prefix('}').unwrap_or(after) } else { after }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> String {
        parse(text).unwrap_or_else(|why| panic!("{text:?}: {why}")).pop().map(|(_, value)| value).unwrap_or_default()
    }

    #[test]
    fn values_are_those_of_godotenv() {
        for (text, wanted) in [
            ("A=b", "b"),
            ("  export   A = b c  ", "b c"),
            ("A: b:c=d", "b:c=d"),
            ("A=", ""),
            ("A=\nB=", ""),
            ("A=b # c", "b"),
            ("A=b#c", "b#c"),
            ("A= #c", "#c"),
            ("A=\"b # c\" # d", "b # c"),
            ("A=\"l1\\nl2\\r\\t\\q\\\"\\!\"", "l1\nl2\rtq\"!"),
            ("A=\"x\n\ny\"", "x\n\ny"),
            ("A='x\ny $X \\n it\\'s'", "x\ny $X \\n it\\'s"),
            ("A=b\\nc", "b\\nc"),
            ("A=a \"b\" c", "a \"b\" c"),
            ("A=1\r\nB=2\r\n", "2"),
            ("\u{feff}# only\n\nA=ü", "ü"),
            ("A=1\nA=2", "2"),
            ("export=1", "1"),
            ("A.b_1=1", "1"),
        ] {
            assert_eq!(value(text), wanted, "{text:?}");
        }
        assert_eq!(parse(" \n# nothing\n").unwrap(), []);
        assert_eq!(parse("A=\nB=1").unwrap(), [("A".into(), "".into()), ("B".into(), "1".into())]);
    }

    #[test]
    fn variables_are_expanded() {
        for (value_text, wanted) in [
            ("$X-${X}.", "1-1."),
            ("\"$X\"", "1"),
            ("'$X'", "$X"),
            ("\\$X \\${X}", "$X ${X}"),
            ("\"\\$X\"", "$X"),
            ("$NOPE.${NOPE}", "."),
            ("a$b $ $$ $(ls)", "a$b $ $$ $(ls)"),
            ("${X", "1"),
            ("$X}", "1}"),
        ] {
            assert_eq!(value(&format!("X=1\nA={value_text}")), wanted, "{value_text}");
        }
    }

    #[test]
    fn errors_tell_the_line() {
        for (text, wanted) in [
            ("A=1\nB", "line 2: found \"B\", expected NAME=value"),
            (
                "A=\"x\ny\"\n\n=1",
                "line 4: found \"\" before \"=\", expected a name of ASCII letters, digits, `_` and `.`",
            ),
            ("A-B=1", "line 1: found \"A-B\" before \"=\", expected a name of ASCII letters, digits, `_` and `.`"),
            ("A=\"b", "line 1: the value begins with \", expected a closing \""),
            (
                &format!("A=0123456789{}", "\nA=\"$A$A$A$A\"".repeat(40)),
                "line 10: with the values of its variables it becomes longer than 1048576 bytes",
            ),
            ("A='b' c", "line 1: found \"c\" behind the closing ', expected the line's end"),
        ] {
            assert_eq!(parse(text).unwrap_err(), wanted);
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let values = ["x", "", "-5", "007", "1.5", "a b", "#", "a\"b\n$X ${X}!`\\\r\\n'", " sp ", "\\"];
        let variables: BTreeMap<String, String> =
            values.iter().enumerate().map(|(index, value)| (format!("V{index}"), (*value).to_owned())).collect();
        let text = stringify(&variables);
        assert_eq!(parse(&text).unwrap().into_iter().collect::<BTreeMap<_, _>>(), variables);
        assert!(text.starts_with("V0=\"x\"\nV1=\"\"\nV2=-5\nV3=\"007\"\nV4=\"1.5\"\nV5=\"a b\"\n"), "{text}");
    }
}
