//! Rows of comma-separated values from a stream of bytes, as RFC 4180 has them and as strict as Go's reader, so that a
//! file gives the same rows here and under k6.
//!
//! Lines end in LF or CRLF; empty lines are no rows. A field in quotes may hold delimiters, line ends (always LF in the
//! result) and doubled quotes. Refused, with line and column: a quote inside of a field that is not quoted, anything
//! between a closing quote and the delimiter, a quote that is never closed, a row with more or fewer fields than the
//! first. The `csv` crate accepts the first three silently, hence a reader of our own. After a refused row reading may
//! go on with the next line. Nothing is decoded: fields are bytes.

use std::io::{BufRead, BufReader, Read};

/// Bytes read at once.
const BUFFER_BYTES: usize = 64 * 1024;

const QUOTE: u8 = b'"';

/// One row, reused for the next.
#[derive(Debug, Default)]
pub struct Row {
    bytes: Vec<u8>,
    /// Where each field ends; it begins where the one before ends.
    ends: Vec<usize>,
}

impl Row {
    /// The fields in order.
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.bytes[begin..*end])
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// Reads rows.
#[derive(Debug)]
pub struct RowReader<R> {
    source: BufReader<R>,
    delimiter: u8,
    /// The current line without its end, and its number from 1.
    line: Vec<u8>,
    line_number: u64,
    /// Fields of the first row.
    width: Option<usize>,
}

impl<R: Read> RowReader<R> {
    /// A reader of what the source gives from now on.
    pub fn new(source: R, delimiter: u8) -> Self {
        let source = BufReader::with_capacity(BUFFER_BYTES, source);
        RowReader { source, delimiter, line: Vec::new(), line_number: 0, width: None }
    }

    /// Reads the next row into `row`; `false` at the end. The error says what is wrong with the row, and where.
    pub fn read(&mut self, row: &mut Row) -> Result<bool, String> {
        row.clear();
        loop {
            if !self.next_line()? {
                return Ok(false);
            }
            if !self.line.is_empty() {
                break;
            }
        }
        let first_line = self.line_number;
        let mut at = 0;
        loop {
            let more = match self.line.get(at) {
                Some(&QUOTE) => self.quoted_field(&mut at, row)?,
                _ => self.plain_field(&mut at, row)?,
            };
            row.ends.push(row.bytes.len());
            if !more {
                break;
            }
        }
        let (found, expected) = (row.ends.len(), *self.width.get_or_insert(row.ends.len()));
        debug_assert!(row.ends.is_sorted() && row.ends.last() == Some(&row.bytes.len()));
        if found != expected {
            return Err(format!("line {first_line}: {found} fields, expected {expected} as in the first row"));
        }
        Ok(true)
    }

    /// The next line; `false` at the end of the source.
    fn next_line(&mut self) -> Result<bool, String> {
        self.line.clear();
        let read = self.source.read_until(b'\n', &mut self.line).map_err(|error| error.to_string())?;
        if read == 0 {
            return Ok(false);
        }
        self.line_number += 1;
        for end in [b'\n', b'\r'] {
            if self.line.last() == Some(&end) {
                self.line.pop();
            }
        }
        Ok(true)
    }

    /// Takes a field without quotes; whether another field follows.
    fn plain_field(&self, at: &mut usize, row: &mut Row) -> Result<bool, String> {
        let rest = &self.line[*at..];
        let length = rest.iter().position(|byte| *byte == self.delimiter);
        let field = &rest[..length.unwrap_or(rest.len())];
        if let Some(quote) = field.iter().position(|byte| *byte == QUOTE) {
            let problem =
                "a quote inside of a field that is not quoted; put the field in quotes and double those in it";
            return Err(self.place(*at + quote, problem));
        }
        row.bytes.extend_from_slice(field);
        *at += field.len() + 1;
        Ok(length.is_some())
    }

    /// Takes a field in quotes, which may go on in further lines; whether another field follows.
    fn quoted_field(&mut self, at: &mut usize, row: &mut Row) -> Result<bool, String> {
        let (opened_line, opened_column) = (self.line_number, *at + 1);
        *at += 1;
        loop {
            let rest = &self.line[*at..];
            let Some(length) = rest.iter().position(|byte| *byte == QUOTE) else {
                row.bytes.extend_from_slice(rest);
                row.bytes.push(b'\n');
                if !self.next_line()? {
                    return Err(format!("line {opened_line}, column {opened_column}: this quote is never closed"));
                }
                *at = 0;
                continue;
            };
            row.bytes.extend_from_slice(&rest[..length]);
            *at += length + 1;
            match self.line.get(*at) {
                None => return Ok(false),
                Some(&QUOTE) => row.bytes.push(QUOTE),
                Some(byte) if *byte == self.delimiter => {
                    *at += 1;
                    return Ok(true);
                }
                Some(_) => {
                    let problem = "text after a closing quote, expected the delimiter or the end of the line";
                    return Err(self.place(*at, problem));
                }
            }
            *at += 1;
        }
    }

    fn place(&self, index: usize, problem: &str) -> String {
        format!("line {}, column {}: {problem}", self.line_number, index + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rows, fields joined by `|`, or where and why a row was refused.
    fn rows(text: &str, delimiter: u8) -> Vec<Result<String, String>> {
        let mut reader = RowReader::new(text.as_bytes(), delimiter);
        let mut row = Row::default();
        let next = || match reader.read(&mut row) {
            Ok(false) => None,
            Ok(true) => {
                let fields: Vec<_> = row.fields().map(|field| String::from_utf8_lossy(field).into_owned()).collect();
                Some(Ok(fields.join("|")))
            }
            Err(error) => Some(Err(error)),
        };
        std::iter::from_fn(next).take(10).collect()
    }

    #[test]
    fn reads_what_the_rfc_has() {
        for (text, expected) in [
            ("", vec![]),
            ("\n\r\n\n", vec![]),
            ("a", vec!["a"]),
            ("a,b\n1,2\n", vec!["a|b", "1|2"]),
            ("a,b\r\n1,2\r\n\r\n3,4\r\n\n5,6", vec!["a|b", "1|2", "3|4", "5|6"]),
            ("a,b\r", vec!["a|b"]),
            (",\n,x\n", vec!["|", "|x"]),
            ("\"\"\n", vec![""]),
            ("\"a,b\",\"c \"\"d\"\"\"\n", vec!["a,b|c \"d\""]),
            ("\"a\r\n\r\nb\",2\r\n3,4", vec!["a\n\nb|2", "3|4"]),
            ("\"\"\"\",x\n", vec!["\"|x"]),
            (" a ,\r2\r,é\n", vec![" a |\r2\r|é"]),
            ("\u{feff}a,b", vec!["\u{feff}a|b"]),
            ("#no comment", vec!["#no comment"]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|row| Ok(row.to_owned())).collect();
            assert_eq!(rows(text, b','), expected, "{text:?}");
        }
        assert_eq!(rows("a,b;\"c;d\"\n", b';'), [Ok("a,b|c;d".to_owned())]);
    }

    #[test]
    fn refuses_what_go_refuses_and_goes_on() {
        for (text, problem, after) in [
            ("a,b\n1,x\"y\n3,4\n", "line 2, column 4: a quote inside", Some("3|4")),
            ("a,b\n1, \"x\"\n3,4\n", "line 2, column 4: a quote inside", Some("3|4")),
            ("a,b\n\"x\"y,2\n3,4\n", "line 2, column 4: text after a closing quote", Some("3|4")),
            ("a,b\n\"x\n\n\"y,2\n3,4\n", "line 4, column 2: text after a closing quote", Some("3|4")),
            ("a,b\n1,\"x\n\n", "line 2, column 3: this quote is never closed", None),
            ("a,b\n1,2,3\n3,4\n", "line 2: 3 fields, expected 2 as in the first row", Some("3|4")),
            ("a,b\n\n\"1\n\"\n3,4\n", "line 3: 1 fields, expected 2 as in the first row", Some("3|4")),
        ] {
            let found = rows(text, b',');
            let error = found[1].as_ref().unwrap_err();
            assert!(error.starts_with(problem), "{text:?}: {error}");
            assert_eq!(found.get(2).map(|row| row.as_deref()), after.map(Ok), "{text:?}");
        }
    }

    #[test]
    fn rows_longer_than_the_buffer() {
        let field = "x".repeat(BUFFER_BYTES * 2);
        let text = format!("{field},\"{field}\n{field}\"\n1,2");
        assert_eq!(rows(&text, b','), [Ok(format!("{field}|{field}\n{field}")), Ok("1|2".to_owned())]);
    }
}
