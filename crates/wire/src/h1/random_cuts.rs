//! Seeded random responses against the decoder: it never panics, and what it makes of a stream does not depend on where
//! the network cut it.

use bytes::Bytes;

use super::decode::{Fed, Finished, Place, ResponseReader};
use super::handling::Handling;
use super::known_heads::KnownHeads;
use crate::failure::{Failure, FailureKind, Step};
use crate::request::BodyUse;
use crate::response::Body;
use crate::room::Room;

/// The outcome of a stream.
#[derive(Debug, PartialEq)]
enum Came {
    /// Status, head, body, whether the connection may be kept, and the bytes behind the end.
    Complete(u16, Bytes, Option<Bytes>, bool, usize),
    Unfinished,
    Refused,
}

/// Feeds the stream in pieces of the given lengths, the rest at once, then closes.
fn decode(stream: &[u8], pieces: &[usize], to_head: bool, body_use: BodyUse, heads: &KnownHeads) -> Came {
    let mut place: Place =
        Err(Failure { step: Step::Wait, kind: FailureKind::Other, message: String::from("nothing came") });
    let room = Room::new(u64::MAX);
    let handling = Handling { is_bodiless: to_head, body_use: &body_use, room: &room, heads };
    let mut reader = ResponseReader::default();
    let mut rest = stream;
    let mut lengths = pieces.iter();
    let mut surplus = None;
    while surplus.is_none() && !rest.is_empty() {
        let (piece, later) = rest.split_at(lengths.next().map_or(rest.len(), |l| (*l).clamp(1, rest.len())));
        rest = later;
        match reader.feed(piece, &handling, &mut place) {
            Ok(Fed::More) => {}
            Ok(Fed::Complete { surplus: behind }) => surplus = Some(behind + rest.len()),
            Err(_) => return Came::Refused,
        }
    }
    if surplus.is_none() && !reader.end_of_stream(&mut place) {
        return Came::Unfinished;
    }
    let (Some(Finished { keep_alive, .. }), Ok(response)) = (reader.finished().copied(), place) else {
        return Came::Unfinished;
    };
    let body = match response.body {
        Body::Kept(bytes) => Some(bytes.to_bytes()),
        Body::Discarded(length) => Some(Bytes::from(length.to_string())),
        Body::None => None,
    };
    Came::Complete(response.status, response.head, body, keep_alive, surplus.unwrap_or(0))
}

fn stream(rng: &mut fastrand::Rng) -> Vec<u8> {
    const STATUS: [&str; 6] = [
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.0 200\r\n",
        "HTTP/1.1 204 No\r\n",
        "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 404 N\r\n",
        "HTTP/1.1 101 X\r\n",
        "\r\nHTTP/1.1 200 OK\n",
    ];
    const FIELDS: [&str; 9] = [
        "Content-Length: 5\r\n",
        "content-length: 5, 5\r\n",
        "Content-Length: 9\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Connection: close\r\n",
        "Connection: Keep-Alive\r\n",
        "X: y\r\n",
        " folded\r\n",
        "no colon\r\n",
    ];
    const BODIES: [&str; 12] = [
        "hello",
        "5\r\nhello\r\n",
        "5;a=b\r\nhello\r\n",
        "0\r\n\r\n",
        "0\r\nT: x\r\n\r\n",
        "A\r\n0123456789\r\n",
        "\r\n",
        "ffffffffffffffffff\r\n",
        "-1\r\n",
        "\0",
        "\u{fffd}",
        "5\nhello\n",
    ];
    let mut text = String::from(STATUS[rng.usize(0..STATUS.len())]);
    (0..rng.usize(0..4)).for_each(|_| text.push_str(FIELDS[rng.usize(0..FIELDS.len())]));
    if rng.u8(..) > 20 {
        text.push_str("\r\n");
    }
    (0..rng.usize(0..5)).for_each(|_| text.push_str(BODIES[rng.usize(0..BODIES.len())]));
    let mut bytes = text.into_bytes();
    if rng.u8(..) < 40 {
        let at = rng.usize(0..bytes.len());
        bytes[at] = rng.u8(..);
    }
    bytes
}

#[test]
fn the_outcome_does_not_depend_on_the_cuts() {
    let mut rng = fastrand::Rng::with_seed(17);
    let (mut complete, mut refused) = (0, 0);
    let heads = KnownHeads::default();
    for _ in 0..20_000 {
        let bytes = stream(&mut rng);
        let to_head = rng.u8(..) < 20;
        let body_use = if rng.bool() { BodyUse::Keep } else { BodyUse::Discard };
        // Heads that came before, of the one stream and of the others, change nothing either.
        let whole = decode(&bytes, &[], to_head, body_use.clone(), &KnownHeads::default());
        for _ in 0..2 {
            assert_eq!(whole, decode(&bytes, &[], to_head, body_use.clone(), &heads));
        }
        let longest = if rng.bool() { 2 } else { 40 };
        let pieces: Vec<usize> = (0..rng.usize(1..80)).map(|_| rng.usize(1..longest)).collect();
        let cut = decode(&bytes, &pieces, to_head, body_use.clone(), &heads);
        assert_eq!(whole, cut, "{:?} cut into {pieces:?}", bytes.escape_ascii().to_string());
        complete += usize::from(matches!(whole, Came::Complete(..)));
        refused += usize::from(whole == Came::Refused);
    }
    assert!(
        complete > 2_000 && refused > 2_000,
        "{complete} complete, {refused} refused: the generator tests too little"
    );
}
