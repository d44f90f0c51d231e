//! What is said beside the script: what was left out, where it stood, and why; and what ended the reading.
//!
//! Nothing is dropped without a note. Notes that repeat are counted, so that a large recording says a few lines.

/// What has to be said, in the order it was found.
#[derive(Debug, Default)]
pub struct Notes {
    notes: Vec<Note>,
}

/// One thing, wherever it was.
#[derive(Debug)]
pub struct Note {
    /// What was not carried over, and why.
    pub text: String,
    /// Where, for the first few.
    pub places: Vec<String>,
    /// How often.
    pub count: usize,
}

/// Places that are named of one note.
const PLACES: usize = 5;
/// Different notes that are kept.
const NOTES: usize = 200;

impl Notes {
    /// Something that was not carried over, and where: `line 12`, `request 3`. An empty place is not named.
    pub fn add(&mut self, place: impl Into<String>, text: impl Into<String>) {
        let (place, text) = (place.into(), text.into());
        let known = self.notes.iter().position(|note| note.text == text);
        let at = known.unwrap_or_else(|| {
            // The last one counts whatever is beyond the limit.
            if self.notes.len() <= NOTES {
                let text = if self.notes.len() == NOTES { String::from("more, which are not listed") } else { text };
                self.notes.push(Note { text, places: Vec::new(), count: 0 });
            }
            self.notes.len() - 1
        });
        let note = &mut self.notes[at];
        note.count += 1;
        if note.places.len() < PLACES && !place.is_empty() {
            note.places.push(place);
        }
    }

    /// A line for each.
    pub fn lines(&self) -> Vec<String> {
        self.notes.iter().map(Note::line).collect()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter()
    }

    /// How many were added.
    pub fn count(&self) -> usize {
        self.notes.iter().map(|note| note.count).sum()
    }
}

impl Note {
    fn line(&self) -> String {
        let times = if self.count > 1 { format!(" ({} times)", self.count) } else { String::new() };
        let more = if self.count > self.places.len() && !self.places.is_empty() { ", …" } else { "" };
        let places = if self.places.is_empty() { String::new() } else { format!("{}{more}: ", self.places.join(", ")) };
        format!("{places}{}{times}", self.text)
    }
}

/// Why a file cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// From 1, where it is known.
    pub line: Option<usize>,
    /// From 1, in bytes.
    pub column: Option<usize>,
    /// What was found, what was expected, what to do.
    pub message: String,
}

impl Problem {
    /// Of the whole file.
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { line: None, column: None, message: message.into() }
    }

    /// At a line.
    pub fn at(line: usize, message: impl Into<String>) -> Problem {
        Problem { line: Some(line), column: None, message: message.into() }
    }

    /// `name:line:column: message`.
    pub fn shown(&self, name: &str) -> String {
        let place = [self.line, self.column].into_iter().flatten().map(|number| format!(":{number}"));
        format!("{name}{}: {}", place.collect::<String>(), self.message)
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Problem {
        let whole = error.to_string();
        let what = whole.split(" at line ").next().unwrap_or(&whole);
        let (line, column) = (error.line(), error.column().max(1));
        let message = match error.classify() {
            serde_json::error::Category::Eof => {
                format!("the JSON ends here, in the middle ({what}): is the file whole?")
            }
            serde_json::error::Category::Io => format!("cannot read on: {what}"),
            _ => format!("this is not the JSON that was expected: {what}"),
        };
        Problem { line: Some(line).filter(|line| *line > 0), column: Some(column), message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_counted_and_places_named() {
        let mut notes = Notes::default();
        (1..=7).for_each(|n| notes.add(format!("line {n}"), "a proxy is not set"));
        notes.add("", "no place");
        let lines = ["line 1, line 2, line 3, line 4, line 5, …: a proxy is not set (7 times)", "no place"];
        assert_eq!(notes.lines(), lines);
        (0..1000).for_each(|n| notes.add("", format!("different {n}")));
        assert_eq!(notes.lines().len(), NOTES + 1);
        assert_eq!(notes.count(), 1008);
        assert!(notes.lines()[NOTES].contains("not listed (802 times)"), "{:?}", notes.lines()[NOTES]);
    }

    #[test]
    fn problems_say_where() {
        let error = serde_json::from_str::<Vec<u8>>("[1,\n2").expect_err("cut");
        let shown = Problem::from(error).shown("a.har");
        assert!(shown.starts_with("a.har:2:1: the JSON ends here, in the middle"), "{shown}");
        assert_eq!(Problem::new("it is empty").shown("x"), "x: it is empty");
    }
}
