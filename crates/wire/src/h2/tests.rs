//! A session fed with frames however they are cut, and with spoiled ones.

use std::rc::Rc;

use bytes::Bytes;

use super::frame::*;
use super::request_head::HeadBuilder;
use super::*;
use crate::room::Room;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    push_head(&mut out, kind, flags, stream, payload.len());
    out.extend_from_slice(payload);
    out
}

/// An answer with something of everything: the streams 1 and 3 are open.
fn answer() -> Vec<u8> {
    let head = b"\x88\x0f\x0d\x0211\x40\x03x-a\x01b";
    let parts = [
        frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100, 0, 4, 0, 1, 0, 0]),
        frame(SETTINGS, ACK, 0, &[]),
        frame(PING, 0, 0, b"12345678"),
        frame(HEADERS, 0, 1, &head[..5]),
        frame(CONTINUATION, 0, 1, &head[5..9]),
        frame(CONTINUATION, END_HEADERS, 1, &head[9..]),
        frame(HEADERS, END_HEADERS | PADDED, 3, b"\x02\x88\xbe\0\0"),
        frame(DATA, 0, 1, b"hello "),
        frame(DATA, PADDED, 3, b"\x03abc\0\0\0"),
        frame(0xfa, 0xff, 7, b"who knows"),
        frame(DATA, PADDED | END_STREAM, 1, b"\x01world\0"),
        frame(WINDOW_UPDATE, 0, 3, &[0, 0, 1, 0]),
        frame(DATA, PADDED, 3, b"\0"),
        frame(HEADERS, END_HEADERS | END_STREAM, 3, b"\xbe"),
        frame(GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0]),
    ];
    parts.concat()
}

fn whole(room: &Rc<Room>) -> Asked<'_> {
    Asked { keep: Keep::Whole, is_bodiless: false, room }
}

fn session() -> Http2Session {
    let room = Room::new(u64::MAX);
    let mut session = Http2Session::new();
    for slot in 0..2 {
        let mut builder = HeadBuilder::new(false);
        builder.request(b"GET", "https", b"h.test", b"/").unwrap();
        session.open(&builder.build(), true, whole(&room), slot);
    }
    session
}

/// What a session knows after an answer in these pieces.
fn outcome<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> Result<String, error_code::ConnectionFault> {
    let mut session = session();
    for piece in pieces {
        session.feed(piece)?;
    }
    let mut told = format!("{} {:?};", session.queue.len(), session.goodbye());
    for id in [1, 3] {
        let stream = session.stream(id);
        let text = |head: &Option<AnswerHead>| head.as_ref().map(|head| head.text.clone());
        told += &format!(
            "{:?} {:?} {:?} {:?};",
            text(&stream.head),
            text(&stream.trailers),
            Bytes::from(stream.content.whole.clone()),
            stream.end
        );
    }
    Ok(told)
}

#[test]
fn an_answer_means_the_same_however_it_is_cut() {
    let answer = answer();
    let whole = outcome([&answer[..]].into_iter()).unwrap();
    assert!(whole.contains("x-a: b") && whole.contains("\"hello world\" Some(Complete)"), "{whole}");
    assert!(whole.contains("\"abc\" Some(Complete)"), "{whole}");
    for cut in 1..answer.len() {
        let (head, tail) = answer.split_at(cut);
        assert_eq!(outcome([head, tail].into_iter()).unwrap(), whole, "cut at {cut}");
    }
    for size in 1..20 {
        assert_eq!(outcome(answer.chunks(size)).unwrap(), whole, "pieces of {size}");
    }
}

#[test]
fn spoiled_answers_end_in_an_error_or_an_answer_and_never_in_a_panic() {
    let answer = answer();
    let mut random = fastrand::Rng::with_seed(7);
    let (mut errors, mut answers) = (0, 0);
    for _ in 0..50_000 {
        let mut spoiled = answer.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..spoiled.len());
            match random.u8(..4) {
                0 => spoiled[at] = random.u8(..),
                1 => spoiled[at] ^= 1 << random.u8(..8),
                2 => drop(spoiled.drain(at..(at + random.usize(..12)).min(answer.len() / 2).max(at))),
                _ => spoiled.insert(at, random.u8(..)),
            }
        }
        match outcome(spoiled.chunks(random.usize(1..200))) {
            Ok(_) => answers += 1,
            Err(_) => errors += 1,
        }
    }
    assert!(errors > 1000 && answers > 1000, "{errors} errors, {answers} answers");
}

#[test]
fn a_request_is_sent_when_its_own_last_byte_is_whatever_else_waits() {
    let mut session = session();
    let both = session.queue.taken_total() + session.queue.len() as u64;
    session.note_sent(both - 1);
    assert!(session.stream(1).sending.sent_at.is_some());
    assert!(session.stream(3).sending.sent_at.is_none());
    let mut builder = HeadBuilder::new(false);
    builder.request(b"POST", "https", b"h.test", b"/").unwrap();
    let upload = session.open(&builder.build(), false, whole(&Room::new(u64::MAX)), 2);
    session.send(upload, Bytes::from_static(b"begins"), false);
    session.note_sent(both);
    assert!(session.stream(3).sending.sent_at.is_some());
    session.note_sent(session.queue.put_total());
    assert!(session.stream(upload).sending.sent_at.is_none());
    session.send(upload, Bytes::from_static(b"ends"), true);
    session.note_sent(session.queue.put_total());
    assert!(session.stream(upload).sending.sent_at.is_some());
}
