//! Readers of modules that have no other way out of this crate, for `cargo xtask fuzz`.
//!
//! Each function reads one input and says which promise was broken.

use crate::experimental::csv::reader::{Row, RowReader};
use crate::html::Document;
use crate::html::selector::CssSelector;
use crate::socketio::head::PacketHead;
use crate::{web_crypto, x509};

/// Fields of the rows of a file.
type CsvFields = Vec<Vec<Vec<u8>>>;

/// A selector on the first line, then a document: what is selected matches, and nothing else does.
pub fn selector(input: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let (selector, document) = text.split_once('\n').unwrap_or((&text, "<p id=a class='b c'>x<b>y</b></p>"));
    let document = Document::parse(document, "http://h/");
    let Some(read) = CssSelector::read(selector) else { return Ok(()) };
    let selected: Vec<_> = read.select(&document, Document::ROOT).collect();
    let matching: Vec<_> = document.below(Document::ROOT).filter(|id| read.matches(&document, *id)).collect();
    if selected != matching || selected.iter().any(|id| !document.is_element(*id)) {
        return Err(format!("{selector:?} selects {selected:?} and matches {matching:?}"));
    }
    // Selectors in brackets and lists mean what they mean alone.
    let both = CssSelector::read(&format!("{selector}, {selector}"));
    let negated = CssSelector::read(&format!(":not({selector})"));
    let twice = both.is_some_and(|both| both.select(&document, Document::ROOT).eq(selected.iter().copied()));
    let others = negated.is_none_or(|not| selected.iter().all(|id| !not.matches(&document, *id)));
    if twice && others { Ok(()) } else { Err(format!("{selector:?} means something else in a list or in :not()")) }
}

/// A document: the tree is one, and its HTML can be written and read again.
pub fn document(input: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let document = Document::parse(&text, "http://h/");
    for id in document.below(Document::ROOT) {
        let parent = document.parent(id).ok_or_else(|| format!("node {id} of {text:?} has no parent"))?;
        if !document.contains(parent, id) || !document.children(parent).any(|child| child == id) {
            return Err(format!("node {id} of {text:?} is no child of its parent {parent}"));
        }
    }
    let html = document.inner_html(Document::ROOT);
    let again = Document::parse(&html, "http://h/");
    let _ = (again.text(Document::ROOT), again.inner_html(Document::ROOT));
    Ok(())
}

/// A delimiter, then a file: in whatever pieces it comes the rows are the same, and written in quotes they come back.
pub fn csv(input: &[u8]) -> Result<(), String> {
    let Some((&delimiter, file)) = input.split_first() else { return Ok(()) };
    if matches!(delimiter, b'"' | b'\r' | b'\n') || !delimiter.is_ascii() {
        return Ok(());
    }
    let (rows, problem) = rows(file, delimiter);
    if self::rows(Bytewise(file), delimiter) != (rows.clone(), problem) {
        return Err(String::from("byte by byte the rows are others"));
    }
    // A line end within quotes is LF in the result: CR LF that is left of CR CR LF would be one when it is written.
    if rows.iter().flatten().any(|field| field.windows(2).any(|pair| pair == b"\r\n")) {
        return Ok(());
    }
    let mut written = Vec::new();
    for row in &rows {
        for (at, field) in row.iter().enumerate() {
            written.extend((at > 0).then_some(delimiter));
            let doubled = field.iter().flat_map(|byte| std::iter::repeat_n(*byte, 1 + usize::from(*byte == b'"')));
            written.extend(std::iter::once(b'"').chain(doubled).chain([b'"']));
        }
        written.extend(b"\r\n");
    }
    match self::rows(&written[..], delimiter) {
        (again, None) if again == rows => Ok(()),
        other => Err(format!("{rows:?} in quotes reads as {other:?}")),
    }
}

/// The rows up to the first that is refused, and why it is.
fn rows(source: impl std::io::Read, delimiter: u8) -> (CsvFields, Option<String>) {
    let (mut reader, mut row, mut rows) = (RowReader::new(source, delimiter), Row::default(), Vec::new());
    loop {
        match reader.read(&mut row) {
            Ok(true) => rows.push(row.fields().map(<[u8]>::to_vec).collect()),
            Ok(false) => return (rows, None),
            Err(problem) => return (rows, Some(problem)),
        }
    }
}

/// Gives a byte at a time.
struct Bytewise<'a>(&'a [u8]);

impl std::io::Read for Bytewise<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = into.len().min(1);
        std::io::Read::read(&mut self.0, &mut into[..most])
    }
}

/// A packet of Socket.IO: what is read of its head is what stands there.
pub fn packet(input: &[u8]) -> Result<(), String> {
    let Some(head) = PacketHead::read(input) else { return Ok(()) };
    let mut written = vec![b'4'];
    written.push(match (head.is_answer, head.attachments > 0) {
        (false, false) => b'2',
        (true, false) => b'3',
        (false, true) => b'5',
        (true, true) => b'6',
    });
    if head.attachments > 0 {
        written.extend(format!("{}-", head.attachments).bytes());
    }
    written.extend(head.namespace);
    written.extend(head.id.map(|id| id.to_string()).unwrap_or_default().bytes());
    written.extend(head.list);
    match PacketHead::read(&written) {
        Some(again) if again == head => Ok(()),
        other => Err(format!("{head:?} is written as what reads as {other:?}")),
    }
}

/// A certificate in PEM for `k6/crypto/x509`.
pub fn certificate(input: &[u8]) -> Result<(), String> {
    match x509::check(&String::from_utf8_lossy(input)) {
        Err(why) if why.is_empty() => Err(String::from("an error without a text")),
        _ => Ok(()),
    }
}

/// Keys in DER for `crypto.subtle`. The input is base64, because keys are bytes and examples are text.
pub fn keys(input: &[u8]) -> Result<(), String> {
    let der = script::base64::Variant::Std.decode(input).unwrap_or_else(|_| input.to_vec());
    web_crypto::check_keys(&der)
}
