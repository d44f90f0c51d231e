//! What went wrong in a script, told with place, source line and caret. For the person who wrote the script.

use std::fmt;

/// k6's exit codes as far as scripts cause them.
pub mod exit_code {
    /// `setup()` took longer than `setupTimeout`.
    pub const SETUP_TIMEOUT: u8 = 100;
    /// `teardown()` took longer than `teardownTimeout`.
    pub const TEARDOWN_TIMEOUT: u8 = 101;
    /// Another part took too long.
    pub const GENERIC_TIMEOUT: u8 = 102;
    /// Options that cannot work.
    pub const INVALID_CONFIG: u8 = 104;
    /// A signal ended the test.
    pub const INTERRUPTED: u8 = 105;
    /// The script threw, or could not be parsed or loaded.
    pub const SCRIPT_EXCEPTION: u8 = 107;
    /// `exec.test.abort()`.
    pub const SCRIPT_ABORTED: u8 = 108;
    /// The script file is missing, or exports nothing to run.
    pub const GENERIC: u8 = 255;
}

/// A place in a script, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Module as scripts name it: `file:///dir/script.js`.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column in characters.
    pub column: u32,
    /// Text of that line; empty when the source is not known.
    pub source_line: String,
}

impl Place {
    /// The place of a byte of a text.
    pub fn of_offset(file: &str, text: &str, offset: usize) -> Place {
        let before = &text[..text.floor_char_boundary(offset.min(text.len()))];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Place {
            file: file.to_string(),
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
            source_line: text[line_start..].lines().next().unwrap_or_default().to_string(),
        }
    }
}

/// A script could not be loaded, or threw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// What happened: `TypeError: x is not a function`.
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// Call stack in k6's form, one `\tat …` a line, positions of the original source; empty when there is none.
    pub stack: String,
    /// k6's exit code for it.
    pub exit_code: u8,
}

impl ScriptError {
    /// An error without a place.
    pub fn new(message: impl Into<String>, exit_code: u8) -> Self {
        ScriptError { message: message.into(), place: None, stack: String::new(), exit_code }
    }

    /// The message followed by the stack, as k6 logs an exception of an iteration.
    pub fn with_stack(&self) -> String {
        if self.stack.is_empty() { self.message.clone() } else { format!("{}\n{}", self.message, self.stack) }
    }
}

/// Characters of a message that tell one error from another; a message may hold a whole answer.
const TELLING: usize = 300;

impl ScriptError {
    /// The message's first line and the place: what equal errors have in common.
    pub fn in_one_line(&self) -> String {
        let first = self.message.lines().next().unwrap_or_default();
        let mut line: String = first.chars().take(TELLING).collect();
        if line.len() < first.len() {
            line.push('…');
        }
        match &self.place {
            Some(Place { file, line: number, column, .. }) => {
                format!("{line} ({}:{number}:{column})", file.trim_start_matches("file://"))
            }
            None => line,
        }
    }

    /// The same error, at this place unless it has one.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        self.place = self.place.or(place);
        self
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(place) = &self.place else { return f.write_str(&self.message) };
        write!(f, "{}:{}:{}: {}", place.file, place.line, place.column, self.message)?;
        if !place.source_line.is_empty() {
            let number = place.line.to_string();
            let before: String = place.source_line.chars().take(place.column.saturating_sub(1) as usize).collect();
            let indent: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            write!(f, "\n  {number} | {}\n  {} | {indent}^", place.source_line, " ".repeat(number.len()))?;
        }
        Ok(())
    }
}

impl std::error::Error for ScriptError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_has_the_message_and_the_place() {
        let place = Place { file: "file:///a.js".into(), line: 12, column: 6, source_line: String::new() };
        let error = ScriptError::new("Error: gone\nwith details", 107);
        assert_eq!(error.in_one_line(), "Error: gone");
        assert_eq!(error.at(Some(place)).in_one_line(), "Error: gone (/a.js:12:6)");
        let long = ScriptError::new("x".repeat(400), 107).in_one_line();
        assert_eq!(long.chars().count(), TELLING + 1);
    }

    #[test]
    fn shows_the_line_and_a_caret() {
        let place = Place { file: "file:///a.js".into(), line: 12, column: 6, source_line: "\tlet x = foo();".into() };
        let error = ScriptError {
            message: "TypeError: not a function".into(),
            place: Some(place),
            stack: String::new(),
            exit_code: 107,
        };
        assert_eq!(
            error.to_string(),
            "file:///a.js:12:6: TypeError: not a function\n  12 | \tlet x = foo();\n     | \t    ^"
        );
    }
}
