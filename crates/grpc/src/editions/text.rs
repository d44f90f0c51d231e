//! The text of a file of an edition as proto2: what the two write differently is changed in place, and the features it
//! sets are taken out and kept.
//!
//! Reads as much of the language as that needs: statements, blocks, labels, options. What it does not understand stays
//! as it is, and the compiler behind it says what is wrong. Lines keep their numbers.

use std::ops::Range;

use super::features::{
    FeatureSet, FieldFeatures, FileFeatures, MessageFeatures, OfField, OfFile, OfMessage, OfOneof, OneofFeatures,
};

/// The text in proto2 and its features; nothing for a file of no edition. The error says what is wrong with the
/// edition.
pub(crate) fn lowered(source: &str) -> Result<Option<(String, FileFeatures)>, String> {
    let tokens = tokens(source);
    let word = |at: usize| tokens.get(at).map(|token| &source[token.clone()]);
    if word(0) != Some("edition") || word(1) != Some("=") {
        return Ok(None);
    }
    let name = word(2).unwrap_or_default().trim_matches(['"', '\'']);
    let mut reader = EditionReader { source, tokens: &tokens, at: 4, edits: Vec::new() };
    reader.edits.push((tokens[0].clone(), String::from("syntax")));
    reader.edits.extend(tokens.get(2).map(|token| (token.clone(), String::from("\"proto2\""))));
    let mut file = FileFeatures::of_edition(name)?;
    reader.file(&mut file);
    Ok(Some((reader.edited(), file)))
}

/// Words (with the dots in them), texts in quotes, and single signs; comments and white space are between them.
pub(crate) fn tokens(source: &str) -> Vec<Range<usize>> {
    let bytes = source.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &source[at..];
        let length = match bytes[at] {
            b'/' if rest.starts_with("//") => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'/' if rest.starts_with("/*") => {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            quote @ (b'"' | b'\'') => {
                let mut end = 1;
                while end < rest.len() && rest.as_bytes()[end] != quote {
                    end += if rest.as_bytes()[end] == b'\\' { 2 } else { 1 };
                }
                (end + 1).min(rest.len())
            }
            byte if is_word(byte) => rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len()),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        debug_assert!(length > 0 && source.is_char_boundary(at + length), "a token of {length} bytes at {at}");
        found.push(at..at + length);
        at += length;
    }
    found
}

struct EditionReader<'a> {
    source: &'a str,
    tokens: &'a [Range<usize>],
    at: usize,
    /// What stands in place of which bytes, in order.
    edits: Vec<(Range<usize>, String)>,
}

/// Files that only declare features of one language each.
const OF_LANGUAGES: [&str; 3] =
    ["google/protobuf/go_features.proto", "google/protobuf/java_features.proto", "google/protobuf/cpp_features.proto"];

impl EditionReader<'_> {
    fn word(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| &self.source[token.clone()])
    }

    /// Whether it has come to the end of a block, or of the file.
    fn is_at_end(&self) -> bool {
        matches!(self.word(0), "}" | "")
    }

    fn take(&mut self, word: &str) -> bool {
        let is_there = self.word(0) == word;
        self.at += usize::from(is_there);
        is_there
    }

    /// Blanks out what stands from one token up to another, but for line ends.
    fn blank(&mut self, tokens: Range<usize>) {
        let (Some(first), Some(last)) = (self.tokens.get(tokens.start), self.tokens.get(tokens.end - 1)) else {
            return;
        };
        let range = first.start..last.end;
        let blank = self.source[range.clone()].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        self.edits.push((range, blank));
    }

    fn file(&mut self, file: &mut FileFeatures) {
        while !self.word(0).is_empty() {
            let start = self.at;
            match self.word(0) {
                // One too many: the compiler says so.
                "}" => self.at += 1,
                "option" => {
                    let own = file.options.get_or_insert_with(OfFile::default);
                    self.option(own.features.get_or_insert_with(FeatureSet::default));
                }
                "message" => file.messages.extend(self.message()),
                "enum" => self.enumeration(),
                "extend" => self.extend(&mut file.extensions),
                "service" => self.service(),
                "export" | "local" if matches!(self.word(1), "message" | "enum") => self.visibility(),
                "import" => {
                    let imported = self.word(1).trim_matches(['"', '\'']);
                    let is_of_features = self.word(1) == "option" || OF_LANGUAGES.contains(&imported);
                    self.skip_statement();
                    if is_of_features {
                        self.blank(start..self.at);
                    }
                }
                _ => self.skip_statement(),
            }
        }
    }

    /// Who may use a type: a rule of the compiler alone (2024).
    fn visibility(&mut self) {
        self.blank(self.at..self.at + 1);
        self.at += 1;
    }

    /// To behind the end of a statement or of a block, whichever comes first.
    fn skip_statement(&mut self) {
        let mut depth = 0_usize;
        while !self.word(0).is_empty() {
            match self.word(0) {
                ";" if depth == 0 => {
                    self.at += 1;
                    return;
                }
                "{" => depth += 1,
                "}" if depth <= 1 => {
                    self.at += usize::from(depth == 1);
                    return;
                }
                "}" => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn message(&mut self) -> Option<MessageFeatures> {
        let mut message = MessageFeatures { name: self.word(1).to_owned(), ..MessageFeatures::default() };
        self.at += 2;
        if !self.take("{") {
            return None;
        }
        while !self.is_at_end() {
            match self.word(0) {
                ";" => self.at += 1,
                "option" => {
                    let own = message.options.get_or_insert_with(OfMessage::default);
                    self.option(own.features.get_or_insert_with(FeatureSet::default));
                }
                "message" if self.word(2) == "{" => message.messages.extend(self.message()),
                "enum" if self.word(2) == "{" => self.enumeration(),
                "extend" if self.word(2) == "{" => self.extend(&mut message.extensions),
                "oneof" if self.word(2) == "{" => self.oneof(&mut message),
                "reserved" => self.reserved(),
                "extensions" => self.skip_statement(),
                "export" | "local" if matches!(self.word(1), "message" | "enum") => self.visibility(),
                _ => {
                    self.label();
                    message.fields.extend(self.field());
                }
            }
        }
        self.take("}");
        Some(message)
    }

    fn oneof(&mut self, message: &mut MessageFeatures) {
        let mut oneof = OneofFeatures { name: self.word(1).to_owned(), ..OneofFeatures::default() };
        self.at += 3;
        while !self.is_at_end() {
            match self.word(0) {
                ";" => self.at += 1,
                "option" => {
                    let own = oneof.options.get_or_insert_with(OfOneof::default);
                    self.option(own.features.get_or_insert_with(FeatureSet::default));
                }
                _ => message.fields.extend(self.field()),
            }
        }
        self.take("}");
        message.oneofs.push(oneof);
    }

    fn extend(&mut self, extensions: &mut Vec<FieldFeatures>) {
        self.at += 3;
        while !self.is_at_end() {
            if !self.take(";") {
                self.label();
                extensions.extend(self.field());
            }
        }
        self.take("}");
    }

    fn enumeration(&mut self) {
        self.at += 3;
        while !self.is_at_end() {
            match self.word(0) {
                "option" => self.option(&mut FeatureSet::default()),
                "reserved" => self.reserved(),
                _ => drop(self.field()),
            }
        }
        self.take("}");
    }

    fn service(&mut self) {
        self.at += 3;
        while !self.is_at_end() {
            match self.word(0) {
                "option" => self.option(&mut FeatureSet::default()),
                _ => self.skip_statement(),
            }
        }
        self.take("}");
    }

    /// proto2 wants a label on each field but those of maps and oneofs.
    fn label(&mut self) {
        let has_label = matches!(self.word(0), "repeated" | "optional" | "required");
        let is_map = self.word(0) == "map" && self.word(1) == "<";
        if let (false, Some(token)) = (has_label || is_map, self.tokens.get(self.at)) {
            self.edits.push((token.start..token.start, String::from("optional ")));
        }
    }

    /// proto2 writes reserved names as texts.
    fn reserved(&mut self) {
        self.at += 1;
        while !self.is_at_end() && !self.take(";") {
            let word = self.word(0);
            let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            if is_name && !matches!(word, "to" | "max") {
                let name = format!("\"{word}\"");
                self.edits.push((self.tokens[self.at].clone(), name));
            }
            self.at += 1;
        }
    }

    /// A field, or a value of an enumeration: a name before the first `=`, and options in brackets.
    fn field(&mut self) -> Option<FieldFeatures> {
        let (mut field, mut own) = (FieldFeatures::default(), FeatureSet::default());
        while !matches!(self.word(0), "=" | ";" | "}" | "") {
            field.name = self.word(0).to_owned();
            self.at += 1;
        }
        while !matches!(self.word(0), ";" | "}" | "") {
            match self.word(0) {
                "[" => self.options(&mut own),
                _ => self.at += 1,
            }
        }
        self.take(";");
        field.options = Some(OfField { features: Some(own) });
        (!field.name.is_empty()).then_some(field)
    }

    /// Options in brackets: those that set features are taken out.
    fn options(&mut self, own: &mut FeatureSet) {
        let open = self.at;
        self.at += 1;
        let (mut kept, mut gone) = (0, Vec::new());
        while !matches!(self.word(0), "]" | ";" | "") {
            let start = self.at;
            let is_feature = self.is_feature();
            let mut depth = 0_usize;
            while !matches!((depth, self.word(0)), (_, "") | (0, "," | "]" | ";")) {
                match self.word(0) {
                    "{" | "[" | "(" => depth += 1,
                    "}" | "]" | ")" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                self.at += 1;
            }
            if is_feature {
                self.read_feature(start..self.at, own);
            }
            let end = self.at;
            let has_comma = self.take(",");
            match is_feature {
                true => gone.push((start, end, has_comma)),
                false => kept += 1,
            }
        }
        self.take("]");
        if kept == 0 {
            return self.blank(open..self.at);
        }
        for (start, end, has_comma) in gone {
            // Behind the last option stands no comma: then the one before it goes.
            let range = if has_comma { start..end + 1 } else { start - 1..end };
            self.blank(range);
        }
    }

    fn is_feature(&self) -> bool {
        let word = self.word(0);
        word == "features" || word.starts_with("features.")
    }

    /// `option name = value;`
    fn option(&mut self, own: &mut FeatureSet) {
        let start = self.at;
        self.at += 1;
        let is_feature = self.is_feature();
        self.skip_option();
        if is_feature {
            self.read_feature(start + 1..self.at - 1, own);
            self.blank(start..self.at);
        }
    }

    /// To behind the semicolon of an option, whose value may be a block.
    fn skip_option(&mut self) {
        let mut depth = 0_usize;
        while !self.word(0).is_empty() {
            match self.word(0) {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                ";" if depth == 0 => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// `features.name = VALUE`, or `features = { name: VALUE … }`.
    fn read_feature(&self, tokens: Range<usize>, own: &mut FeatureSet) {
        let words: Vec<&str> = self.tokens[tokens].iter().map(|token| &self.source[token.clone()]).collect();
        match words.as_slice() {
            [name, "=", value] => own.set(name.strip_prefix("features.").unwrap_or_default(), value),
            ["features", "=", inner @ ..] => {
                for three in inner.windows(3).filter(|three| three[1] == ":") {
                    own.set(three[0], three[2]);
                }
            }
            _ => {}
        }
    }

    fn edited(mut self) -> String {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let (mut out, mut at) = (String::with_capacity(self.source.len() + 256), 0);
        for (range, text) in self.edits {
            // Two options that are taken out may share a comma.
            if range.start < at {
                continue;
            }
            out.push_str(&self.source[at..range.start]);
            out.push_str(&text);
            at = range.end;
        }
        out.push_str(&self.source[at..]);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> (String, FileFeatures) {
        lowered(source).unwrap().unwrap()
    }

    #[test]
    fn what_has_no_edition_stays_as_it_is() {
        assert_eq!(lowered("syntax = \"proto3\";\nmessage M { string edition = 1; }"), Ok(None));
        let refused = lowered("edition = \"2031\";").unwrap_err();
        assert_eq!(refused, "found edition \"2031\", expected \"2023\" or \"2024\"");
    }

    #[test]
    fn labels_reserved_names_and_features_are_written_in_the_way_of_proto2() {
        let source = "// a file\nedition = \"2023\";\npackage p; option features.field_presence = IMPLICIT;\n\
            message M { option features = { utf8_validation: NONE };\n reserved 2, 4 to max, old;\n\
            string a = 1; repeated int32 b = 3 [features.repeated_field_encoding = EXPANDED, deprecated = true];\n\
            map<string, int32> m = 5; oneof o { int32 x = 6 [features.field_presence = EXPLICIT]; }\n\
            p.Other c = 7 [json_name = \"cc\", features.message_encoding = DELIMITED]; }\n\
            enum E { option features.enum_type = CLOSED; A = 1; }";
        let (text, file) = of(source);
        let line = |at: usize| text.lines().nth(at).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.lines().count(), source.lines().count());
        assert_eq!(line(1), "syntax = \"proto2\";");
        assert_eq!(line(2), "package p;");
        assert_eq!(line(4), "reserved 2, 4 to max, \"old\";");
        assert_eq!(line(5), "optional string a = 1; repeated int32 b = 3 [ deprecated = true];");
        assert_eq!(line(6), "map<string, int32> m = 5; oneof o { int32 x = 6 ; }");
        assert_eq!(line(7), "optional p.Other c = 7 [json_name = \"cc\" ]; }");
        assert_eq!(line(8), "enum E { A = 1; }");
        assert!(file.own().unwrap().is_implicit());
        let message = super::super::features::message(&file.messages, "M").unwrap();
        assert_eq!(message.own().unwrap().utf8_validation, Some(3));
        let names: Vec<&str> = message.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "m", "x", "c"]);
        let own = |at: usize| message.fields[at].options.unwrap().features.unwrap();
        assert_eq!((own(1).repeated_field_encoding, own(4).message_encoding), (Some(2), Some(2)));
    }

    #[test]
    fn whatever_the_text_is_reading_ends() {
        let whole =
            "edition = \"2023\"; message M { string a = 1 [features.x = Y, b = {c: [1]}]; oneof o { int32 x = 2; } }";
        for end in 0..whole.len() {
            let _any = lowered(&whole[..end]);
        }
        for spoiled in [
            "edition = \"2023\"; }}} message",
            "edition = \"2023\"; message M { = ; [ ] }",
            "edition = \"2023\"; enum {",
        ] {
            assert!(lowered(spoiled).is_ok());
        }
    }
}
