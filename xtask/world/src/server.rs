//! The server of the world: it reads requests with the target's own decoders and answers as `plan` says.
//!
//! It counts what it saw before it answers, and knows nothing of the client. A request whose bytes are not those that
//! were meant is noted as wrong at once.

use std::rc::Rc;
use std::time::Duration;

use engine::clock::Clock;
use wire::Role;
use wire::h1::body_decoder::BodyDecoder;
use wire::h1::chunks;
use wire::h1::encode::{Persistence, interim, response_head};
use wire::h1::framing::BodyFraming;
use wire::h1::request_head::{self, header_room};

use crate::cable::Cable;
use crate::plan::{After, Answer, Ask, Ending, Framed, GHOST_KEY, HOPS, body_of};

/// An answer to nothing: whoever takes it for one has the wrong body.
pub(crate) const GHOST: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nghost";

/// What a head said.
struct HeadFacts {
    key: u64,
    method: String,
    body: BodyFraming,
}

/// A connection as the server sees it.
struct Session {
    cable: Rc<Cable>,
    /// Read and not used.
    buffer: Vec<u8>,
}

/// Serves a connection until one side has had enough.
pub(crate) async fn serve(cable: Rc<Cable>) {
    let mut session = Session { cable, buffer: Vec::new() };
    while let Some(facts) = session.head().await {
        if !session.request(facts).await {
            break;
        }
    }
    session.cable.close();
}

impl Session {
    async fn more(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let count = self.cable.read(&mut buffer).await;
        self.buffer.extend_from_slice(&buffer[..count]);
        count > 0
    }

    /// The next head; none when the client is gone, or what it sends is no request.
    async fn head(&mut self) -> Option<HeadFacts> {
        loop {
            let (mut room, mut len) = (header_room(), 0);
            let read = request_head::parse(&self.buffer, &mut room).map(|head| {
                head.map(|head| {
                    len = head.len;
                    let key: Option<u64> = head.target.trim_start_matches('/').parse().ok();
                    key.map(|key| HeadFacts { key, method: head.method.to_owned(), body: head.framing.body })
                })
            });
            match read {
                Ok(Some(Some(facts))) => {
                    self.buffer.drain(..len);
                    return Some(facts);
                }
                Ok(None) => {}
                Ok(Some(None)) | Err(_) => {
                    let text = String::from_utf8_lossy(&self.buffer).into_owned();
                    self.wrong(|| format!("the server got what is no request: {text:?}"));
                    return None;
                }
            }
            if !self.more().await {
                return None;
            }
        }
    }

    fn wrong(&self, what: impl FnOnce() -> String) {
        self.cable.world.ledger.borrow_mut().wrong(what);
    }

    /// Serves one request; whether the connection goes on.
    async fn request(&mut self, facts: HeadFacts) -> bool {
        let world = Rc::clone(&self.cable.world);
        let answer = Answer::of(&world.case, facts.key);
        {
            let mut ledger = world.ledger.borrow_mut();
            let served = ledger.served.entry(facts.key).or_default();
            served.heads += 1;
            served.method.clone_from(&facts.method);
        }
        if !answer.is_early && !self.body(&facts).await {
            return false;
        }
        world.clock.sleep_until(world.clock.now() + answer.think).await;
        let goes_on = self.answer(&facts, &answer).await;
        goes_on && (!answer.is_early || self.body(&facts).await)
    }

    /// Reads the request's body; whether all of it came.
    async fn body(&mut self, facts: &HeadFacts) -> bool {
        let mut decoder = BodyDecoder::new(Role::Server, facts.body);
        let mut body = Vec::new();
        while !decoder.is_done() {
            let fed = decoder.feed(&self.buffer, |bytes| body.extend_from_slice(bytes));
            let Ok(used) = fed else {
                self.wrong(|| format!("request {}: its body cannot be read: {fed:?}", facts.key));
                return false;
            };
            self.buffer.drain(..used);
            if !decoder.is_done() && !self.more().await {
                return false;
            }
        }
        let first = facts.key / HOPS * HOPS;
        let ask = Ask::of(&self.cable.world.case, first);
        let expected = if facts.method == ask.method { ask.body.unwrap_or(0) } else { 0 };
        if body != body_of(first, expected, false) {
            self.wrong(|| format!("request {}: found a body of {} bytes, expected {expected}", facts.key, body.len()));
        }
        let mut ledger = self.cable.world.ledger.borrow_mut();
        ledger.served.entry(facts.key).or_default().is_whole = true;
        true
    }

    /// Answers; whether the connection goes on.
    async fn answer(&mut self, facts: &HeadFacts, answer: &Answer) -> bool {
        let (cable, key) = (Rc::clone(&self.cable), facts.key);
        let mut bytes = bytes_of(facts, answer);
        let share = |share: u8| bytes.len() * usize::from(share) / 256;
        let whole = match answer.ending {
            Ending::Whole | Ending::Garbage => bytes.len(),
            Ending::Closed(at) | Ending::Reset(at) | Ending::Silent(at) => share(at),
        };
        bytes.truncate(whole);
        if answer.ending == Ending::Garbage {
            bytes = b"220 mail.test ESMTP ready\r\n\r\n".to_vec();
        }
        if !self.write(&bytes, key, &answer.pauses).await {
            return false;
        }
        let clock = &cable.world.clock;
        match answer.ending {
            Ending::Whole => {}
            Ending::Closed(_) | Ending::Garbage => return false,
            Ending::Reset(_) => {
                cable.abort();
                return false;
            }
            // It goes on reading, so that nothing else ends the request.
            Ending::Silent(_) => {
                while self.more().await {}
                return false;
            }
        }
        let arrives = cable.down.borrow().last();
        if let Some(served) = cable.world.ledger.borrow_mut().served.get_mut(&key) {
            (served.is_answered, served.answered_at) = (true, Some(arrives));
        }
        match answer.after {
            After::Stay => true,
            After::SayClose => false,
            After::Close(later) => {
                self.until(clock.now() + later).await;
                false
            }
            After::Surplus => {
                let joined = cable.down.borrow_mut().join(GHOST);
                cable.write(&GHOST[joined..], GHOST_KEY).await
            }
            After::Ghost(later) => {
                let ghost = Rc::clone(&cable);
                tokio::task::spawn_local(async move {
                    ghost.world.clock.sleep_until(ghost.world.clock.now() + later).await;
                    ghost.write(GHOST, GHOST_KEY).await;
                    ghost.close();
                });
                // What comes meanwhile is never answered.
                while self.more().await {}
                false
            }
        }
    }

    /// Waits, unless the next request comes before: then it waits behind it.
    async fn until(&mut self, at: Duration) {
        let clock = self.cable.world.clock.clone();
        clock.sleep_until(at).await;
    }

    /// Writes in as many pieces as there are pauses and one.
    async fn write(&self, bytes: &[u8], key: u64, pauses: &[Duration]) -> bool {
        let clock = &self.cable.world.clock;
        let size = bytes.len().div_ceil(pauses.len() + 1).max(1);
        for (at, piece) in bytes.chunks(size).enumerate() {
            if let Some(pause) = at.checked_sub(1).and_then(|at| pauses.get(at)) {
                clock.sleep_until(clock.now() + *pause).await;
            }
            if !self.cable.write(piece, key).await {
                return false;
            }
        }
        true
    }
}

/// All bytes of a whole answer.
fn bytes_of(facts: &HeadFacts, answer: &Answer) -> Vec<u8> {
    let mut bytes = Vec::new();
    if answer.has_interim {
        interim(&mut bytes, 103, [("Link", &b"</style.css>; rel=preload"[..])].into_iter());
    }
    let has_body = answer.has_body(&facts.method);
    let is_bare = matches!(answer.status, 204 | 304);
    let framing = match answer.framed {
        _ if is_bare => BodyFraming::None,
        Framed::Length => BodyFraming::Length(answer.size as u64),
        Framed::Chunked => BodyFraming::Chunked,
        Framed::UntilClose => BodyFraming::UntilClose,
    };
    let persistence = match answer.after {
        After::SayClose => Persistence::Close,
        _ => Persistence::Default,
    };
    let (location, cookie) = (format!("/{}", facts.key + 1), format!("c{}=1", facts.key));
    let mut fields: Vec<(&str, &[u8])> = vec![("Server", b"world")];
    if answer.leads_on() {
        fields.push(("Location", location.as_bytes()));
    }
    if answer.sets_cookie {
        fields.push(("Set-Cookie", cookie.as_bytes()));
    }
    response_head(&mut bytes, answer.status, b"", framing, persistence, fields.into_iter());
    if has_body {
        let body = body_of(facts.key, answer.size, true);
        match answer.framed {
            Framed::Chunked => {
                body.chunks(answer.size / 3 + 1).for_each(|piece| chunks::chunk(&mut bytes, piece));
                chunks::last_chunk(&mut bytes, std::iter::empty());
            }
            Framed::Length | Framed::UntilClose => bytes.extend(body),
        }
    }
    bytes
}
