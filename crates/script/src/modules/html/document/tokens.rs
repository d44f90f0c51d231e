//! From text to tokens for html5ever's tree builder, at several times the speed of its own tokenizer.
//!
//! Only what pages are made of is read here: text, tags, plain comments, scripts. At anything else (`<!DOCTYPE` with
//! public names, CDATA, `<!--` in a script, a file that ends within a tag) html5ever's tokenizer takes over from that
//! place, where both would be in the same state. So the tokens are the same for every text; a test compares them.

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::TreeSink;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{RawKind, State};
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::TreeBuilder;
use html5ever::{Attribute, LocalName, QualName, TokenizerResult, ns};
use memchr::{memchr, memmem};

use super::names::RecentNames;
use super::references::{ReferencePlace, replaced};

/// Lines are not counted.
const LINE: u64 = 1;

/// Where the text goes on, and in which state.
enum NextText {
    /// With text or a tag.
    Data(usize),
    /// Within an element that has no elements inside.
    Raw(RawKind, usize),
    /// In a way that html5ever reads.
    Other(State, usize),
    /// At its end.
    End,
}

/// The text as it is to be fed. None when only html5ever's tokenizer reads it as it should be.
pub fn prepared(text: &str) -> Option<StrTendril> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if memchr(b'\0', text.as_bytes()).is_some() {
        return None;
    }
    Some(match memchr(b'\r', text.as_bytes()) {
        Some(_) => StrTendril::from(text.replace("\r\n", "\n").replace('\r', "\n")),
        None => StrTendril::from_slice(text),
    })
}

/// Feeds a prepared text to a tree builder until its end.
pub fn feed<S: TreeSink>(text: &StrTendril, builder: &TreeBuilder<S::Handle, S>)
where
    S::Handle: Clone,
{
    let mut reader =
        TokenReader { whole: text, text, builder, names: RecentNames::default(), last_tag: LocalName::default() };
    let mut step = NextText::Data(0);
    loop {
        step = match step {
            NextText::Data(at) => reader.data(at),
            NextText::Raw(kind, at) => reader.raw(kind, at),
            NextText::Other(state, at) => return reader.hand_over(state, at),
            NextText::End => {
                let _ = builder.process_token(Token::EOFToken, LINE);
                return builder.end();
            }
        };
    }
}

struct TokenReader<'t, S: TreeSink> {
    whole: &'t StrTendril,
    text: &'t str,
    builder: &'t TreeBuilder<S::Handle, S>,
    names: RecentNames,
    /// The last start tag, whose end tag ends raw text.
    last_tag: LocalName,
}

impl<S: TreeSink> TokenReader<'_, S>
where
    S::Handle: Clone,
{
    /// Text up to a tag, and the tag.
    fn data(&mut self, start: usize) -> NextText {
        let bytes = self.text.as_bytes();
        let mut search = start;
        loop {
            let Some(found) = memchr(b'<', &bytes[search..]) else {
                self.send_text(start, bytes.len(), true);
                return NextText::End;
            };
            let at = search + found;
            let begins_tag = match (bytes.get(at + 1), bytes.get(at + 2)) {
                (Some(b'/'), Some(letter)) => letter.is_ascii_alphabetic(),
                (Some(letter), _) => letter.is_ascii_alphabetic(),
                (None, _) => false,
            };
            if begins_tag {
                self.send_text(start, at, true);
                return self.tag(at);
            }
            if matches!(bytes.get(at + 1), Some(b'!' | b'?' | b'/')) {
                self.send_text(start, at, true);
                return self.declaration(at);
            }
            // A character like any other.
            search = at + 1;
        }
    }

    fn send_text(&self, start: usize, end: usize, has_references: bool) {
        if start == end {
            return;
        }
        let text = match has_references.then(|| replaced(&self.text[start..end], ReferencePlace::Text)).flatten() {
            Some(text) => StrTendril::from(text),
            None => self.part(start, end),
        };
        let _ = self.builder.process_token(Token::CharacterTokens(text), LINE);
    }

    /// A part of the text, which is not copied.
    fn part(&self, start: usize, end: usize) -> StrTendril {
        self.whole.subtendril(start as u32, (end - start) as u32)
    }

    /// Comments that end as they should; all else is html5ever's.
    fn declaration(&self, at: usize) -> NextText {
        let other = NextText::Other(State::Data, at);
        let Some(body) = self.text[at..].strip_prefix("<!--") else { return self.doctype(at) };
        if body.starts_with(['>', '-']) {
            return other;
        }
        let ends = memmem::find(body.as_bytes(), b"-->");
        // This ends a comment, too.
        let wrong_end = memmem::find(&body.as_bytes()[..ends.unwrap_or_default()], b"--!>");
        let (Some(end), None) = (ends, wrong_end) else { return other };
        let start = at + "<!--".len();
        let _ = self.builder.process_token(Token::CommentToken(self.part(start, start + end)), LINE);
        NextText::Data(start + end + "-->".len())
    }

    fn doctype(&self, at: usize) -> NextText {
        const PLAIN: &str = "<!doctype html>";
        match self.text.get(at..at + PLAIN.len()) {
            Some(found) if found.eq_ignore_ascii_case(PLAIN) => {
                let doctype = html5ever::tokenizer::Doctype { name: Some("html".into()), ..Default::default() };
                let _ = self.builder.process_token(Token::DoctypeToken(doctype), LINE);
                NextText::Data(at + PLAIN.len())
            }
            _ => NextText::Other(State::Data, at),
        }
    }

    /// A tag whose `<` is here.
    fn tag(&mut self, at: usize) -> NextText {
        let bytes = self.text.as_bytes();
        let kind = if bytes[at + 1] == b'/' { TagKind::EndTag } else { TagKind::StartTag };
        let start = at + 1 + usize::from(kind == TagKind::EndTag);
        let end = start + length(&bytes[start..], |byte| !is_blank(byte) && byte != b'/' && byte != b'>');
        let name = self.names.get(&self.text[start..end]);
        let mut tag = Tag { kind, name, self_closing: false, attrs: Vec::new(), had_duplicate_attributes: false };
        let Some(end) = self.attributes(end, &mut tag) else { return NextText::Other(State::Data, at) };
        if kind == TagKind::StartTag {
            self.last_tag = tag.name.clone();
        } else {
            tag.attrs.clear();
        }
        match self.builder.process_token(Token::TagToken(tag), LINE) {
            TokenSinkResult::Plaintext => NextText::Other(State::Plaintext, end),
            TokenSinkResult::RawData(kind) => NextText::Raw(kind, end),
            _ => NextText::Data(end),
        }
    }

    /// Reads up to and with the `>`. None when the text ends before it.
    fn attributes(&mut self, mut at: usize, tag: &mut Tag) -> Option<usize> {
        let bytes = self.text.as_bytes();
        loop {
            at += length(&bytes[at..], is_blank);
            match *bytes.get(at)? {
                b'>' => return Some(at + 1),
                b'/' => {
                    at += 1;
                    if *bytes.get(at)? == b'>' {
                        tag.self_closing = true;
                        return Some(at + 1);
                    }
                }
                // The first byte belongs to the name, even when it is `=`.
                _ => at = self.attribute(at, tag)?,
            }
        }
    }

    fn attribute(&mut self, start: usize, tag: &mut Tag) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let in_name = |byte| !is_blank(byte) && !matches!(byte, b'/' | b'>' | b'=');
        let end = start + 1 + length(&bytes[start + 1..], in_name);
        let equals = end + length(&bytes[end..], is_blank);
        let (value, after) = match *bytes.get(equals)? {
            b'=' => self.value(equals + 1)?,
            _ => (StrTendril::new(), end),
        };
        let name = self.names.get(&self.text[start..end]);
        if tag.attrs.iter().any(|known| known.name.local == name) {
            tag.had_duplicate_attributes = true;
        } else {
            tag.attrs.push(Attribute { name: QualName::new(None, ns!(), name), value });
        }
        Some(after)
    }

    /// The value behind `=`, and where the text goes on.
    fn value(&self, at: usize) -> Option<(StrTendril, usize)> {
        let bytes = self.text.as_bytes();
        let at = at + length(&bytes[at..], is_blank);
        let (start, end, after) = match *bytes.get(at)? {
            quote @ (b'"' | b'\'') => {
                let end = at + 1 + memchr(quote, &bytes[at + 1..])?;
                (at + 1, end, end + 1)
            }
            _ => {
                let end = at + length(&bytes[at..], |byte| !is_blank(byte) && byte != b'>');
                (at, end, end)
            }
        };
        // A text that ends here has no tag.
        bytes.get(after)?;
        let value = match replaced(&self.text[start..end], ReferencePlace::Attribute) {
            Some(text) => StrTendril::from(text),
            None => self.part(start, end),
        };
        Some((value, after))
    }

    /// Text up to the end tag of the element that began.
    fn raw(&self, kind: RawKind, start: usize) -> NextText {
        let other = NextText::Other(State::RawData(kind), start);
        let bytes = self.text.as_bytes();
        let mut at = start;
        let end = loop {
            let Some(found) = memchr(b'<', &bytes[at..]) else { return other };
            at += found;
            // A comment in a script may hold an end tag that is none.
            if kind == RawKind::ScriptData && bytes[at..].starts_with(b"<!--") {
                return other;
            }
            if self.ends_raw(at) {
                break at;
            }
            at += 1;
        };
        self.send_text(start, end, kind == RawKind::Rcdata);
        NextText::Data(end)
    }

    /// Whether here is an end tag of the last start tag.
    fn ends_raw(&self, at: usize) -> bool {
        let name = at + 2..at + 2 + self.last_tag.len();
        let bytes = self.text.as_bytes();
        bytes.get(at + 1) == Some(&b'/')
            && bytes.get(name.clone()).is_some_and(|found| found.eq_ignore_ascii_case(self.last_tag.as_bytes()))
            && bytes.get(name.end).is_some_and(|byte| is_blank(*byte) || matches!(byte, b'/' | b'>'))
    }

    /// The rest of the text, read by html5ever.
    fn hand_over(&self, state: State, at: usize) {
        let (initial_state, last_start_tag_name) = (Some(state), Some(self.last_tag.to_string()));
        let options = TokenizerOpts { discard_bom: false, initial_state, last_start_tag_name, ..Default::default() };
        let tokenizer = Tokenizer::new(Through(self.builder), options);
        let queue = BufferQueue::default();
        queue.push_back(self.part(at, self.text.len()));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        tokenizer.end();
    }
}

/// A tree builder that another tokenizer feeds.
struct Through<'b, S: TreeSink>(&'b TreeBuilder<S::Handle, S>);

impl<S: TreeSink> TokenSink for Through<'_, S>
where
    S::Handle: Clone,
{
    type Handle = S::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<S::Handle> {
        self.0.process_token(token, line)
    }

    fn end(&self) {
        self.0.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.0.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// HTML's white space, carriage returns aside.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | 0x0c)
}

/// How many bytes at the beginning are such ones.
fn length(bytes: &[u8], is_such: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !is_such(*byte)).unwrap_or(bytes.len())
}
