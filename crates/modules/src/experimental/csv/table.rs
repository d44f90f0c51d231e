//! Which rows of a file are wanted, and in which form: the options of `parse` and `Parser` as plain values.
//!
//! Rows are numbered from 0, the first row (header or not) included; empty lines do not count.

use std::io::Read;

use super::reader::{Row, RowReader};
use crate::data::elements::Elements;

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableOptions {
    /// Between two fields.
    pub delimiter: u8,
    /// Leaves row 0 out.
    pub skip_first_line: bool,
    /// First row wanted.
    pub from_line: u64,
    /// Last row wanted.
    pub to_line: Option<u64>,
    /// Row 0 names the fields of the others.
    pub as_objects: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions { delimiter: b',', skip_first_line: false, from_line: 0, to_line: None, as_objects: false }
    }
}

/// The rows that are wanted, one after the other.
#[derive(Debug)]
pub struct Table<R> {
    reader: RowReader<R>,
    row: Row,
    /// Names of the fields, when rows are objects.
    names: Option<Vec<String>>,
    /// Number of the next row.
    next: u64,
    to_line: Option<u64>,
}

impl<R: Read> Table<R> {
    /// Reads as far as the first row that is wanted. Fails when the file ends before.
    pub fn new(source: R, options: &TableOptions) -> Result<Self, String> {
        let reader = RowReader::new(source, options.delimiter);
        let mut table = Table { reader, row: Row::default(), names: None, next: 0, to_line: options.to_line };
        let from = options.from_line.max(u64::from(options.skip_first_line || options.as_objects));
        while table.next < from {
            table.next += 1;
            if !table.reader.read(&mut table.row)? {
                return Err(format!("the file ends before row {from}, the first that is wanted"));
            }
        }
        if options.as_objects {
            let names = table.row.fields().map(|name| String::from_utf8_lossy(name).into_owned());
            table.names = Some(names.collect());
        }
        Ok(table)
    }

    /// Names of the fields, when rows are objects.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Reads the next row; whether there is one. After an error the next call continues behind the bad row.
    pub fn advance(&mut self) -> Result<bool, String> {
        if self.to_line.is_some_and(|last| self.next > last) {
            return Ok(false);
        }
        self.next += 1;
        self.reader.read(&mut self.row)
    }

    /// The row that `advance` found.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// All rows as elements of a shared array: arrays of strings, or objects.
    pub fn into_elements(mut self) -> Result<Elements, String> {
        let mut elements = Elements::default();
        let mut json = String::new();
        while self.advance()? {
            self.write_json(&mut json);
            elements.push(Some(&json));
        }
        Ok(elements.shrink())
    }

    fn write_json(&self, json: &mut String) {
        json.clear();
        let (open, close) = if self.names.is_some() { ('{', '}') } else { ('[', ']') };
        json.push(open);
        for (index, field) in self.row.fields().enumerate() {
            if index > 0 {
                json.push(',');
            }
            if let Some(name) = self.names.as_ref().and_then(|names| names.get(index)) {
                write_text(json, name);
                json.push(':');
            }
            write_text(json, &String::from_utf8_lossy(field));
        }
        json.push(close);
    }
}

fn write_text(json: &mut String, text: &str) {
    json.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEOPLE: &str = "name,age\nanna,30\nbob,25\n\ncarl,\"4\"\"0\"\n";

    fn json(options: &TableOptions) -> Result<String, String> {
        let mut table = Table::new(PEOPLE.as_bytes(), options)?;
        let mut rows = Vec::new();
        while table.advance()? {
            let mut json = String::new();
            table.write_json(&mut json);
            rows.push(json);
        }
        Ok(rows.join(" "))
    }

    #[test]
    fn rows_are_counted_from_the_first() {
        let all = TableOptions::default();
        let from = |from_line| TableOptions { from_line, ..all.clone() };
        let to = |to_line| TableOptions { to_line: Some(to_line), ..all.clone() };
        let cases = [
            (all.clone(), Ok(r#"["name","age"] ["anna","30"] ["bob","25"] ["carl","4\"0"]"#)),
            (TableOptions { skip_first_line: true, ..to(2) }, Ok(r#"["anna","30"] ["bob","25"]"#)),
            (TableOptions { skip_first_line: true, ..from(1) }, Ok(r#"["anna","30"] ["bob","25"] ["carl","4\"0"]"#)),
            (to(1), Ok(r#"["name","age"] ["anna","30"]"#)),
            (TableOptions { to_line: Some(2), ..from(1) }, Ok(r#"["anna","30"] ["bob","25"]"#)),
            (from(3), Ok(r#"["carl","4\"0"]"#)),
            (from(4), Ok("")),
            (from(5), Err("the file ends before row 5, the first that is wanted")),
            (TableOptions { as_objects: true, ..to(1) }, Ok(r#"{"name":"anna","age":"30"}"#)),
        ];
        for (options, expected) in cases {
            assert_eq!(json(&options), expected.map(str::to_owned).map_err(str::to_owned), "{options:?}");
        }
    }

    #[test]
    fn elements_are_the_rows() {
        let table = Table::new(PEOPLE.as_bytes(), &TableOptions::default()).unwrap();
        let elements = table.into_elements().unwrap();
        assert_eq!(elements.len(), 4);
        let bad = Table::new("a,b\n1\n".as_bytes(), &TableOptions::default()).unwrap();
        assert_eq!(bad.into_elements().unwrap_err(), "line 2: 1 fields, expected 2 as in the first row");
        let empty = Table::new("".as_bytes(), &TableOptions::default()).unwrap();
        assert!(empty.into_elements().unwrap().is_empty());
        let no_header = TableOptions { as_objects: true, ..TableOptions::default() };
        assert!(Table::new("\n".as_bytes(), &no_header).is_err());
    }
}
