//! A shell's file cut into commands, each with what it reads from its standard input.
//!
//! Knows quotes, comments, line ends behind a backslash, separators, redirections, here-documents and here-strings, and
//! `$(cat <<END … END)`. Variables are marked by `commands.rs`; nothing is run.

use crate::commands::marked;
use crate::shell;

/// What a command reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A here-document or a here-string.
    Text(String),
    /// `< file`.
    File(String),
    /// What another command prints, which is not known.
    Unknown(String),
}

/// A command, which may be empty.
#[derive(Debug)]
pub struct Slice {
    /// From 1.
    pub line: usize,
    pub text: String,
    pub input: Option<Input>,
    /// Whether the next command reads what it prints.
    pub is_piped: bool,
}

/// Cuts a text.
pub struct Slicer {
    chars: Vec<char>,
    at: usize,
    line: usize,
    /// The line end that here-documents stand behind, and where they end.
    documents: Option<(usize, usize)>,
}

impl Slicer {
    /// At the beginning of a text.
    pub fn new(text: &str) -> Slicer {
        Slicer { chars: text.chars().collect(), at: 0, line: 1, documents: None }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        debug_assert!(self.documents.is_none_or(|(end, _)| self.at <= end), "documents begin behind this line");
        self.line += usize::from(c == '\n');
        self.at += 1;
        if let Some((end, behind)) = self.documents.filter(|(end, _)| self.at == end + 1) {
            self.line += self.chars[end + 1..behind].iter().filter(|c| **c == '\n').count();
            self.at = behind;
            self.documents = None;
        }
        Some(c)
    }

    fn take_if(&mut self, is_wanted: impl Fn(char) -> bool) -> Option<char> {
        self.peek().filter(|c| is_wanted(*c))?;
        self.take()
    }

    fn take_all(&mut self, text: &str) -> bool {
        let is_here = text.chars().enumerate().all(|(at, c)| self.chars.get(self.at + at) == Some(&c));
        self.at += if is_here { text.chars().count() } else { 0 };
        is_here
    }

    /// The next command, which may be empty.
    pub fn next(&mut self) -> Option<Slice> {
        while self.take_if(char::is_whitespace).is_some() {}
        self.peek()?;
        let mut slice = Slice { line: self.line, text: String::new(), input: None, is_piped: false };
        while let Some(c) = self.take() {
            let text = &mut slice.text;
            match c {
                '\\' => {
                    text.push(c);
                    // The carriage return of a file from Windows.
                    self.take_if(|c| c == '\r');
                    text.extend(self.take());
                }
                '\'' | '"' => self.quoted(text, c),
                '#' if text.is_empty() || text.ends_with(char::is_whitespace) => {
                    while self.take_if(|c| c != '\n').is_some() {}
                }
                '$' if self.peek() == Some('\'') => {
                    text.push(c);
                    self.take();
                    self.quoted(text, '$');
                }
                '$' => self.variable(text, false),
                '>' | '<' => {
                    let without_number = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
                    if text[..without_number].ends_with(char::is_whitespace) {
                        text.truncate(without_number);
                    }
                    text.push(' ');
                    match c {
                        '<' => slice.input = self.input().or(slice.input.take()),
                        _ => self.skip_redirection(),
                    }
                }
                '&' if self.peek().is_some_and(|c| !c.is_whitespace() && c != '&') => text.push(c),
                '|' => {
                    slice.is_piped = self.take_if(|c| c == '|').is_none();
                    break;
                }
                '\n' | ';' | '&' | '(' | ')' | '`' => break,
                c => text.push(c),
            }
        }
        Some(slice)
    }

    /// `>file`, `2>&1`.
    fn skip_redirection(&mut self) {
        while self.take_if(|c| ">&<| ".contains(c)).is_some() {}
        while self.take_if(|c| !c.is_whitespace() && !";|&)".contains(c)).is_some() {}
    }

    /// What stands behind a `<`.
    fn input(&mut self) -> Option<Input> {
        if self.take_all("<<") {
            let text = self.word()?;
            return Some(Input::Text(format!("{text}\n")));
        }
        if self.take_all("<") {
            return self.document().map(Input::Text);
        }
        if self.peek() == Some('&') {
            self.skip_redirection();
            return None;
        }
        if self.peek() == Some('(') {
            return None;
        }
        self.word().map(Input::File)
    }

    /// The next word, with its variables marked.
    fn word(&mut self) -> Option<String> {
        while self.take_if(|c| c == ' ' || c == '\t').is_some() {}
        let mut text = String::new();
        while let Some(c) = self.take_if(|c| !c.is_whitespace() && !";|&()<>`".contains(c)) {
            match c {
                '\'' | '"' => self.quoted(&mut text, c),
                '\\' => {
                    text.push(c);
                    text.extend(self.take());
                }
                '$' if self.take_if(|c| c == '\'').is_some() => {
                    text.push(c);
                    self.quoted(&mut text, '$');
                }
                '$' => self.variable(&mut text, false),
                c => text.push(c),
            }
        }
        shell::split(&text).ok()?.into_iter().next()
    }

    /// The text of a here-document, of which the delimiter is next. It begins behind the end of this line.
    fn document(&mut self) -> Option<String> {
        let strips = self.take_all("-");
        while self.take_if(|c| c == ' ' || c == '\t').is_some() {}
        let from = self.at;
        let delimiter = self.word()?;
        let is_quoted = self.chars[from..self.at].iter().any(|c| "'\"\\".contains(*c));
        let line_end = (self.at..self.chars.len()).find(|at| self.chars[*at] == '\n')?;
        let (end, begin) = self.documents.unwrap_or((line_end, line_end + 1));
        let (raw, behind) = self.lines_until(&delimiter, begin, strips);
        debug_assert!(self.at <= end && end < behind && behind <= self.chars.len());
        self.documents = Some((end, behind));
        Some(if is_quoted { raw } else { expanded(&raw) })
    }

    /// Lines up to the one that is the delimiter, and where that one ends.
    fn lines_until(&self, delimiter: &str, begin: usize, strips: bool) -> (String, usize) {
        let (mut text, mut at) = (String::new(), begin);
        while at < self.chars.len() {
            let end = (at..self.chars.len()).find(|at| self.chars[*at] == '\n').unwrap_or(self.chars.len());
            let line: String = self.chars[at..end].iter().collect();
            let line = if strips { line.trim_start_matches('\t') } else { &line };
            at = (end + 1).min(self.chars.len());
            if line.trim_end_matches('\r') == delimiter {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        (text, at)
    }

    /// Up to the closing quote, which is kept; `$` stands for `$'…'`.
    fn quoted(&mut self, text: &mut String, quote: char) {
        text.push(if quote == '$' { '\'' } else { quote });
        while let Some(c) = self.take() {
            match c {
                '$' if quote == '"' => self.variable(text, true),
                '\\' if quote != '\'' => {
                    text.push(c);
                    text.extend(self.take());
                }
                c => {
                    text.push(c);
                    if c == quote || quote == '$' && c == '\'' {
                        return;
                    }
                }
            }
        }
    }

    /// What stands behind a `$`: a name becomes its mark, a here-document its text; anything else stays.
    fn variable(&mut self, text: &mut String, is_in_quotes: bool) {
        let begin = (self.at, self.line, self.documents);
        if let Some(document) = self.cat() {
            let quote = if is_in_quotes { "" } else { "\"" };
            text.push_str(&format!("{quote}{}{quote}", for_quotes(document.trim_end_matches('\n'))));
            return;
        }
        (self.at, self.line, self.documents) = begin;
        match name_at(&self.chars[self.at..]) {
            Some((name, length)) => {
                self.at += length;
                text.push_str(&marked(&name));
            }
            None => text.push('$'),
        }
    }

    /// `(cat <<END … END )`.
    fn cat(&mut self) -> Option<String> {
        let blank = |slicer: &mut Slicer| while slicer.take_if(char::is_whitespace).is_some() {};
        self.take_if(|c| c == '(')?;
        blank(self);
        let is_cat = self.take_all("cat");
        blank(self);
        (is_cat && self.take_all("<<")).then_some(())?;
        let document = self.document()?;
        blank(self);
        self.take_if(|c| c == ')').map(|_| document)
    }
}

/// A name behind a `$`, with or without braces, and how many characters it takes.
fn name_at(chars: &[char]) -> Option<(String, usize)> {
    let in_braces = chars.first() == Some(&'{');
    let start = usize::from(in_braces);
    let name: String = chars[start..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').collect();
    let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    let end = start + name.len();
    (is_name && (!in_braces || chars.get(end) == Some(&'}'))).then_some((name, end + start))
}

/// A here-document whose delimiter is not quoted: variables are marked, backslashes taken.
fn expanded(raw: &str) -> String {
    let chars: Vec<char> = raw.chars().collect();
    let (mut text, mut at) = (String::new(), 0);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('\\', Some('\n')) => at += 1,
            ('\\', Some(c @ ('\\' | '$' | '`'))) => {
                text.push(*c);
                at += 1;
            }
            ('$', _) => match name_at(&chars[at + 1..]) {
                Some((name, length)) => {
                    text.push_str(&marked(&name));
                    at += length;
                }
                None => text.push('$'),
            },
            (c, _) => text.push(c),
        }
        at += 1;
    }
    text
}

/// Text as it stands within double quotes.
fn for_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\\"$`".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// What a command prints that reads and writes nothing else: `cat`, `echo`, `printf`.
pub fn printed(words: &[String], input: Option<Input>) -> Option<Input> {
    let (name, rest) = words.split_first()?;
    match (name.rsplit('/').next().unwrap_or_default(), rest) {
        ("cat", []) => input,
        ("cat", [file]) if file == "-" => input,
        ("cat", [file]) if !file.starts_with('-') => Some(Input::File(file.clone())),
        ("echo", [flag, words @ ..]) if flag == "-n" => Some(Input::Text(words.join(" "))),
        ("echo", words) if words.first().is_none_or(|word| !word.starts_with('-')) => {
            Some(Input::Text(format!("{}\n", words.join(" "))))
        }
        ("printf", [text]) if !text.contains('%') => {
            let escapes = [("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ("\\\\", "\\")];
            Some(Input::Text(escapes.iter().fold(text.clone(), |text, (from, to)| text.replace(from, to))))
        }
        ("printf", [format, text]) if matches!(format.as_str(), "%s" | "%s\\n") => {
            Some(Input::Text(format!("{text}{}", if format.len() > 2 { "\n" } else { "" })))
        }
        _ => None,
    }
}
