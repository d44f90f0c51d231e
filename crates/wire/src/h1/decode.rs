//! Responses from bytes, in whatever pieces they arrive. Pure: no IO, no clock.
//!
//! The common response, complete in the first piece, is read where it is: a head that came before is shared, not parsed
//! again, and a new one is copied together with the body. What is finished is written where the caller keeps it.
//! A head that comes in pieces is put together in a buffer that grows with it. Skips 1xx heads, refuses 101 and bad
//! chunks; what a head may be is in `response_head` and `response_facts`. Invariant: bytes after the end of the
//! response are never taken; they are reported, so that the connection is dropped.

use bytes::Bytes;

use super::body_decoder::BodyDecoder;
use super::framing::BodyFraming;
use super::handling::Handling;
use super::partial_head::PartialHead;
use super::response_facts::Facts;
use super::response_head::{parse_head, unfold};
use crate::Role;
use crate::failure::Failure;
use crate::request::{BodySink, BodyUse};
use crate::response::{Body, Content, Marks, Response};
use crate::room::{Held, NoRoom};

/// A body vector is reserved up to this size ahead; beyond, it grows with what really arrives.
const MAX_RESERVE: u64 = 1 << 20;

/// How far one response has come. Small, because each exchange makes one and most are over after one piece.
#[derive(Default)]
pub(crate) enum ResponseReader {
    /// Nothing of it has come.
    #[default]
    Waiting,
    Head(Box<PartialHead>),
    Body(Box<PartialBody>),
    Done(Finished),
}

/// A body that comes in pieces.
pub(crate) struct PartialBody {
    facts: Facts,
    head: Bytes,
    decoder: BodyDecoder,
    /// A sink that does not want it leaves it to be kept.
    body_use: BodyUse,
    content: Vec<u8>,
    /// What `content` takes of the room.
    held: Option<Held>,
    dropped: u64,
}

/// What a complete response says beside itself.
#[derive(Clone, Copy)]
pub(crate) struct Finished {
    pub(crate) status: u16,
    /// The server leaves the connection open.
    pub(crate) keep_alive: bool,
    /// Its head told how long the body is.
    pub(crate) has_length: bool,
    pub(crate) marks: Marks,
}

/// Where a finished response goes.
pub(crate) type Place = Result<Response, Failure>;

/// What a piece of input did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    /// More is needed.
    More,
    /// The response is complete; this many bytes of the input are behind its end.
    Complete {
        /// Bytes that do not belong to it.
        surplus: usize,
    },
}

/// Why a reader cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The server broke HTTP; in words for people.
    Broken(String),
    /// The body does not fit into the room that is left.
    TooLarge(NoRoom),
}

impl From<String> for Unreadable {
    fn from(message: String) -> Unreadable {
        Unreadable::Broken(message)
    }
}

impl ResponseReader {
    /// Who takes the body that is being read.
    #[inline]
    pub(crate) fn sink(&self) -> Option<&dyn BodySink> {
        match self {
            ResponseReader::Body(body) => match &body.body_use {
                BodyUse::Stream(sink) => Some(&**sink),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many bytes are to come that nobody wants to see: the rest of a discarded body of known length.
    #[inline]
    pub(crate) fn unwanted(&self) -> Option<u64> {
        match self {
            ResponseReader::Body(body) if matches!(body.body_use, BodyUse::Discard) && body.decoder.is_plain() => {
                body.decoder.run_left()
            }
            _ => None,
        }
    }

    /// Counts this many unwanted bytes as arrived and dropped.
    pub(crate) fn skip(&mut self, bytes: u64, place: &mut Place) -> Fed {
        let ResponseReader::Body(body) = self else {
            unreachable!("only a body is skipped");
        };
        body.dropped += bytes;
        if !body.decoder.skip(bytes) {
            return Fed::More;
        }
        self.finish(place);
        Fed::Complete { surplus: 0 }
    }

    /// Status of the head, once it is complete.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            ResponseReader::Body(body) => Some(body.facts.status),
            ResponseReader::Done(finished) => Some(finished.status),
            ResponseReader::Waiting | ResponseReader::Head(_) => None,
        }
    }

    /// Takes the next piece. A response that it completes is put into `place`.
    #[inline]
    pub(crate) fn feed(&mut self, input: &[u8], of: &Handling<'_>, place: &mut Place) -> Result<Fed, Unreadable> {
        if let ResponseReader::Waiting = self
            && let Some((head, facts)) = of.heads.find(input)
        {
            return self.feed_behind(head, facts, &input[facts.head_len..], of, place);
        }
        self.feed_any(input, of, place)
    }

    /// Takes one of the pieces that a read brought; `fed` says what those before it did, and then what all have done.
    #[inline]
    pub(crate) fn feed_one_of(
        &mut self,
        input: &[u8],
        fed: &mut Result<Fed, Unreadable>,
        of: &Handling<'_>,
        place: &mut Place,
    ) {
        match fed {
            Ok(Fed::More) => *fed = self.feed(input, of, place),
            Ok(Fed::Complete { surplus }) => *surplus += input.len(),
            Err(_) => {}
        }
    }

    /// The input follows a head.
    #[inline]
    fn feed_behind(
        &mut self,
        head: Bytes,
        facts: Facts,
        input: &[u8],
        of: &Handling<'_>,
        place: &mut Place,
    ) -> Result<Fed, Unreadable> {
        if let Some(length) = of.whole_length(&facts, input) {
            let body = Body::Kept(Content::copy_of(&input[..length]));
            self.done(&facts, head, body, place);
            return Ok(Fed::Complete { surplus: input.len() - length });
        }
        self.begin_body(facts, head, of, place);
        self.feed_body(input, of, place)
    }

    fn feed_any(&mut self, mut input: &[u8], of: &Handling<'_>, place: &mut Place) -> Result<Fed, Unreadable> {
        loop {
            match self {
                ResponseReader::Waiting => {
                    let Some(facts) = parse_head(input)? else {
                        *self = ResponseReader::Head(Box::new(PartialHead::begun(input)));
                        return Ok(Fed::More);
                    };
                    let (whole, rest) = (input, &input[facts.head_len..]);
                    if is_interim(facts.status)? {
                        if rest.is_empty() {
                            return Ok(Fed::More);
                        }
                        input = rest;
                        continue;
                    }
                    if let Some(head) = of.heads.learn(whole, &facts) {
                        return self.feed_behind(head, facts, rest, of, place);
                    }
                    if let Some(surplus) = self.complete_at_once(&facts, whole, of, place) {
                        return Ok(Fed::Complete { surplus });
                    }
                    input = rest;
                    self.begin_body(facts, Bytes::copy_from_slice(&whole[..facts.head_len]), of, place);
                }
                ResponseReader::Head(partial) => {
                    let Some((facts, head, rest)) = partial.feed(input)? else { return Ok(Fed::More) };
                    *self = ResponseReader::Waiting;
                    input = rest;
                    if !is_interim(facts.status)? {
                        self.begin_body(facts, head, of, place);
                    } else if input.is_empty() {
                        return Ok(Fed::More);
                    }
                }
                ResponseReader::Body(_) | ResponseReader::Done(_) => return self.feed_body(input, of, place),
            }
        }
    }

    /// The peer closed its side. `true` when that was the end of the body.
    pub(crate) fn end_of_stream(&mut self, place: &mut Place) -> bool {
        match self {
            ResponseReader::Body(body) if body.decoder.may_end() => {
                self.finish(place);
                true
            }
            state => matches!(state, ResponseReader::Done(_)),
        }
    }

    /// Nobody wants the rest of a body that goes to a sink: the response ends with what came.
    pub(crate) fn cut(&mut self, place: &mut Place) {
        if let ResponseReader::Body(_) = self {
            self.finish(place);
        }
    }

    /// What the response says beside itself, once it is complete.
    pub(crate) fn finished(&self) -> Option<&Finished> {
        match self {
            ResponseReader::Done(finished) => Some(finished),
            _ => None,
        }
    }

    /// One copy for head and body, where the body is complete; gives what is behind it.
    fn complete_at_once(&mut self, facts: &Facts, input: &[u8], of: &Handling<'_>, place: &mut Place) -> Option<usize> {
        let end = facts.head_len + of.whole_length(facts, &input[facts.head_len..])?;
        let mut head = Bytes::copy_from_slice(&input[..end]);
        let body = head.split_off(facts.head_len);
        self.done(facts, head, Body::Kept(Content::from(body)), place);
        Some(input.len() - end)
    }

    fn begin_body(&mut self, facts: Facts, mut head: Bytes, of: &Handling<'_>, place: &mut Place) {
        if facts.folded {
            head = unfold(&head);
        }
        if of.has_no_body(&facts) {
            self.done(&facts, head, Body::None, place);
            return;
        }
        let mut body_use = of.body_use.clone();
        if let BodyUse::Stream(sink) = &body_use
            && !((200..300).contains(&facts.status) && sink.begin(&answer(&facts, head.clone(), Body::Discarded(0))))
        {
            body_use = BodyUse::Keep;
        }
        let (framing, mut content) = (facts.body_framing(), Vec::new());
        if let (BodyFraming::Length(length), BodyUse::Keep) = (framing, &body_use) {
            content.reserve_exact(length.min(MAX_RESERVE) as usize);
        }
        let decoder = BodyDecoder::new(Role::Client, framing);
        let body = PartialBody { facts, head, decoder, body_use, content, held: None, dropped: 0 };
        *self = ResponseReader::Body(Box::new(body));
    }

    fn feed_body(&mut self, input: &[u8], of: &Handling<'_>, place: &mut Place) -> Result<Fed, Unreadable> {
        let ResponseReader::Body(body) = self else {
            return Ok(Fed::Complete { surplus: input.len() });
        };
        let PartialBody { decoder, body_use, content, held, dropped, .. } = &mut **body;
        if let (BodyUse::Keep, false) = (&*body_use, input.is_empty()) {
            // All of the input: a few bytes of framing are counted too.
            let held = held.get_or_insert_with(|| Held::nothing_of(of.room));
            held.grow(input.len()).map_err(Unreadable::TooLarge)?;
        }
        let fed = decoder.feed(input, |bytes| match body_use {
            BodyUse::Keep => content.extend_from_slice(bytes),
            BodyUse::Discard => *dropped += bytes.len() as u64,
            BodyUse::Stream(sink) => {
                *dropped += bytes.len() as u64;
                sink.take(bytes);
            }
        });
        let consumed = fed.map_err(|error| error.to_string())?;
        if !decoder.is_done() {
            debug_assert_eq!(consumed, input.len(), "a body that goes on takes all that came");
            return Ok(Fed::More);
        }
        self.finish(place);
        Ok(Fed::Complete { surplus: input.len() - consumed })
    }

    /// The body is complete.
    fn finish(&mut self, place: &mut Place) {
        let ResponseReader::Body(body) = std::mem::take(self) else {
            unreachable!("only a body is finished");
        };
        let PartialBody { facts, head, body_use, content, held, dropped, .. } = *body;
        drop(held);
        let body = match body_use {
            BodyUse::Keep => Body::Kept(Content::from(Bytes::from(content))),
            BodyUse::Discard | BodyUse::Stream(_) => Body::Discarded(dropped),
        };
        self.done(&facts, head, body, place);
    }

    #[inline]
    fn done(&mut self, facts: &Facts, head: Bytes, body: Body, place: &mut Place) {
        debug_assert!(
            !matches!((&body, facts.length), (Body::Kept(body), Some(length)) if body.len() as u64 != length),
            "a body that is kept is as long as its head says"
        );
        let delimited = facts.chunked || facts.length.is_some() || matches!(body, Body::None);
        *place = Ok(answer(facts, head, body));
        let keep_alive = facts.keep_alive && delimited;
        let has_length = facts.length.is_some() && !facts.chunked;
        *self = ResponseReader::Done(Finished { status: facts.status, keep_alive, has_length, marks: facts.marks });
    }
}

fn answer(facts: &Facts, head: Bytes, body: Body) -> Response {
    let proto = if facts.http_10 { "HTTP/1.0" } else { "HTTP/1.1" };
    Response { status: facts.status, proto, head, body }
}

fn is_interim(status: u16) -> Result<bool, String> {
    if status == 101 {
        return Err(String::from("unsupported response status: 101 Switching Protocols"));
    }
    Ok((100..200).contains(&status))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::failure::{FailureKind, Step};
    use crate::h1::known_heads::KnownHeads;
    use crate::room::Room;

    fn nothing() -> Place {
        Err(Failure { step: Step::Wait, kind: FailureKind::Other, message: String::from("nothing came") })
    }

    /// What reads the answer to a GET.
    struct Reads {
        reader: ResponseReader,
        body_use: BodyUse,
        room: Rc<Room>,
        heads: KnownHeads,
    }

    impl Reads {
        fn new(body_use: BodyUse, most: u64) -> Reads {
            Reads { reader: ResponseReader::default(), body_use, room: Room::new(most), heads: KnownHeads::default() }
        }

        fn feed(&mut self, bytes: &[u8], place: &mut Place) -> Result<Fed, Unreadable> {
            let Reads { reader, body_use, room, heads } = self;
            reader.feed(bytes, &Handling { is_bodiless: false, body_use, room, heads }, place)
        }
    }

    /// A read is made short only for the sake of bodies that can be dropped by their length.
    #[test]
    fn only_a_length_of_the_head_is_one() {
        for (response, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false),
        ] {
            let (mut reads, mut place) = (Reads::new(BodyUse::Discard, u64::MAX), nothing());
            let fed = reads.feed(response.as_bytes(), &mut place);
            assert_eq!(fed, Ok(Fed::Complete { surplus: 0 }), "{response}");
            assert_eq!(reads.reader.finished().map(|finished| finished.has_length), Some(expected), "{response}");
        }
    }

    /// What a server announces costs memory only when it comes.
    #[test]
    fn room_for_a_body_is_made_ahead_up_to_a_mebibyte() {
        for (length, ahead) in [(1_000, 1_000), (1 << 20, 1 << 20), (1u64 << 40, 1 << 20)] {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            let mut reads = Reads::new(BodyUse::Keep, u64::MAX);
            assert_eq!(reads.feed(head.as_bytes(), &mut nothing()), Ok(Fed::More));
            let ResponseReader::Body(body) = reads.reader else { panic!("the body has begun") };
            assert_eq!(body.content.capacity(), ahead);
        }
    }

    /// Looking at all of it with each piece takes a time that grows with the square of its length.
    #[test]
    fn a_long_head_is_looked_at_again_when_it_has_doubled() {
        let head = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(1 << 20));
        let (mut reads, mut place) = (Reads::new(BodyUse::Keep, u64::MAX), nothing());
        let mut next_looks = Vec::new();
        for piece in head.as_bytes().chunks(512) {
            assert_eq!(reads.feed(piece, &mut place), Ok(Fed::More));
            let ResponseReader::Head(partial) = &reads.reader else { panic!("it is not whole") };
            next_looks.push(partial.parse_from());
        }
        next_looks.dedup();
        // With each piece up to 16 KiB, then at the first length beyond and at its doubles.
        assert_eq!(next_looks, [0, 33, 66, 132, 264, 528, 1056].map(|kib| kib << 10));
        // Its end is seen at once all the same.
        let end = b"\r\nContent-Length: 0\r\n\r\nsurplus";
        assert_eq!(reads.feed(end, &mut place), Ok(Fed::Complete { surplus: 7 }));
    }

    #[test]
    fn a_field_over_several_lines_is_one_value_wherever_it_is_cut() {
        let response = "HTTP/1.1 200 OK\r\nX: a\r\n \t b\r\nContent-Length:\r\n 2\r\nY: c\r\n\r\nhi";
        for step in 1..=response.len() {
            let (mut reads, mut place) = (Reads::new(BodyUse::Keep, u64::MAX), nothing());
            let pieces = response.as_bytes().chunks(step);
            let last = pieces.map(|piece| reads.feed(piece, &mut place)).last();
            assert_eq!(last, Some(Ok(Fed::Complete { surplus: 0 })), "in pieces of {step}");
            let response = place.unwrap();
            let values = ["x", "content-length", "y"].map(|name| response.header(name));
            assert_eq!(values, [Some(&b"a b"[..]), Some(b"2"), Some(b"c")], "in pieces of {step}");
        }
    }

    /// What nobody wants is skipped unseen, but only what certainly belongs to the body.
    #[test]
    fn only_the_rest_of_a_discarded_body_of_known_length_is_unwanted() {
        let after = |body_use: BodyUse, response: &str| {
            let mut reads = Reads::new(body_use, u64::MAX);
            assert_eq!(reads.feed(response.as_bytes(), &mut nothing()), Ok(Fed::More));
            reads.reader
        };
        let of_length = "HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\nabc";
        assert_eq!(after(BodyUse::Keep, of_length).unwanted(), None);
        assert_eq!(after(BodyUse::Discard, "HTTP/1.1 200 OK\r\n\r\nabc").unwanted(), None);
        let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc";
        assert_eq!(after(BodyUse::Discard, chunk).unwanted(), None);
        let (mut reader, mut place) = (after(BodyUse::Discard, of_length), nothing());
        assert_eq!((reader.unwanted(), reader.status()), (Some(6), Some(201)));
        assert_eq!(reader.skip(4, &mut place), Fed::More);
        assert_eq!((reader.unwanted(), reader.finished().is_none()), (Some(2), true));
        assert!(!reader.end_of_stream(&mut place), "two bytes are missing");
        assert_eq!(reader.skip(2, &mut place), Fed::Complete { surplus: 0 });
        assert_eq!((reader.unwanted(), reader.status()), (None, Some(201)));
        assert!(matches!(place.unwrap().body, Body::Discarded(9)));
    }

    /// Heads of every size: a small one beside a larger body, and a large one beside a smaller body.
    #[test]
    fn what_lies_behind_a_body_is_counted_whatever_the_head_is_long() {
        for (padding, body, behind) in [(0, 2, 0), (0, 2, 3), (5_000, 2, 0), (5_000, 2, 3), (0, 9_000, 1)] {
            let (filler, body) = ("x".repeat(padding), "b".repeat(body));
            let head = format!("HTTP/1.1 200 OK\r\nX-Filler: {filler}\r\nContent-Length: {}\r\n\r\n", body.len());
            let input = format!("{head}{body}{}", "s".repeat(behind));
            let (mut reads, mut place) = (Reads::new(BodyUse::Keep, u64::MAX), nothing());
            let fed = reads.feed(input.as_bytes(), &mut place);
            assert_eq!(fed, Ok(Fed::Complete { surplus: behind }), "{padding} {} {behind}", body.len());
        }
    }

    /// Whatever length a head announces, and whether it announces one.
    #[test]
    fn a_kept_body_ends_where_its_room_does() {
        for head in ["Content-Length: 9000000", "Transfer-Encoding: chunked", "X: until the end"] {
            let (mut reads, mut place) = (Reads::new(BodyUse::Keep, 10_000), nothing());
            let head = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n");
            let chunk = format!("3e8\r\n{}\r\n", "x".repeat(1000));
            assert_eq!(reads.feed(head.as_bytes(), &mut place), Ok(Fed::More));
            let mut pieces = std::iter::repeat_with(|| reads.feed(chunk.as_bytes(), &mut place));
            let refused = pieces.position(|fed| fed.is_err()).unwrap();
            assert_eq!(refused, 9, "{head}");
            let refused = reads.feed(chunk.as_bytes(), &mut place);
            let text = String::from("it has more than 10000 bytes, the limit of the option maxDecodedBody");
            assert_eq!(refused, Err(Unreadable::TooLarge(NoRoom(text))));
        }
    }
}
