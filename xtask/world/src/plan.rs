//! What a request asks for and what the server does with it: both follow from the seed and the request's number alone,
//! so that each side, and the judge, can work it out without being told.

use std::time::Duration;

use crate::case::{Case, Weather};

/// Numbers of one request's hops: the first, and where redirects lead.
pub(crate) const HOPS: u64 = 8;

/// What pieces of an answer to nothing have as their key.
pub(crate) const GHOST_KEY: u64 = 1;

/// What the first hop of a request is.
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    /// Bytes of its body; none without one.
    pub(crate) body: Option<usize>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) is_discarded: bool,
    pub(crate) max_redirects: u32,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With its last byte.
    Whole,
    /// The server closes after this share of its bytes, in 1/256.
    Closed(u8),
    /// It resets there.
    Reset(u8),
    /// Nothing follows there, for ever.
    Silent(u8),
    /// It is no HTTP.
    Garbage,
}

/// What the server does after a whole answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Waits for the next request.
    Stay,
    /// Says that it closes, and closes.
    SayClose,
    /// Closes without a word so long afterwards.
    Close(Duration),
    /// Another answer that was not asked for is right behind this one.
    Surplus,
    /// The same so long afterwards.
    Ghost(Duration),
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framed {
    Length,
    Chunked,
    UntilClose,
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) size: usize,
    pub(crate) framed: Framed,
    pub(crate) think: Duration,
    /// Pauses between the pieces that it writes.
    pub(crate) pauses: Vec<Duration>,
    pub(crate) has_interim: bool,
    pub(crate) sets_cookie: bool,
    /// It answers before it has the body.
    pub(crate) is_early: bool,
    pub(crate) ending: Ending,
    pub(crate) after: After,
}

fn random_of(case: &Case, key: u64, salt: u64) -> fastrand::Rng {
    fastrand::Rng::with_seed(case.seed ^ key.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ salt)
}

/// Often small, seldom the largest.
fn size(random: &mut fastrand::Rng, weather: &Weather) -> usize {
    let most = if random.u32(..8) == 0 { weather.largest } else { weather.largest.min(900) };
    random.usize(..=most)
}

impl Ask {
    /// What the request with this number asks for.
    pub(crate) fn of(case: &Case, key: u64) -> Ask {
        let random = &mut random_of(case, key, 1);
        let method = ["GET", "GET", "GET", "POST", "PUT", "HEAD"][random.usize(..6)];
        let has_body = matches!(method, "POST" | "PUT");
        Ask {
            method,
            body: has_body.then(|| size(random, &case.weather)),
            timeout: (random.u32(..3) > 0).then(|| Duration::from_millis(random.u64(1..3000))),
            is_discarded: random.u32(..4) == 0,
            max_redirects: random.u32(..4),
        }
    }
}

impl Answer {
    /// What the server does with the request of this number.
    pub(crate) fn of(case: &Case, key: u64) -> Answer {
        let (random, weather) = (&mut random_of(case, key, 2), &case.weather);
        let mut ending = Ending::Whole;
        let at = random.u8(..);
        if random.u32(..1000) < weather.of_answer {
            ending = [Ending::Closed(at), Ending::Reset(at), Ending::Silent(at), Ending::Garbage][random.usize(..4)];
        }
        let has_ghosts = weather.has_ghosts;
        let mut after = After::Stay;
        if random.u32(..1000) < weather.of_answer {
            let later = Duration::from_micros(random.u64(..200_000));
            let all = [After::SayClose, After::Close(later), After::Surplus, After::Ghost(later)];
            after = all[random.usize(..if has_ghosts { 4 } else { 2 })];
        }
        let framed = [Framed::Length, Framed::Length, Framed::Chunked, Framed::UntilClose][random.usize(..4)];
        let pauses = (0..random.usize(..3)).map(|_| Duration::from_micros(random.u64(..30_000))).collect();
        Answer {
            status: [302, 307, 200, 200, 200, 200, 204, 404, 500, 304][random.usize(usize::from(has_ghosts) * 2..10)],
            size: size(random, weather),
            framed,
            think: Duration::from_micros([0, random.u64(..2_000), random.u64(..150_000)][random.usize(..3)]),
            pauses,
            has_interim: random.u32(..8) == 0,
            sets_cookie: random.u32(..16) == 0,
            is_early: random.u32(..10) == 0,
            ending,
            // Only the end tells where such a body ends.
            after: if framed == Framed::UntilClose { After::SayClose } else { after },
        }
    }

    /// Whether it leads on.
    pub(crate) fn leads_on(&self) -> bool {
        matches!(self.status, 302 | 307)
    }

    /// Whether its body is there, for this method.
    pub(crate) fn has_body(&self, method: &str) -> bool {
        method != "HEAD" && !matches!(self.status, 204 | 304)
    }
}

/// The bytes of a body: those of a request and those of its answer differ.
pub(crate) fn body_of(key: u64, size: usize, is_answer: bool) -> Vec<u8> {
    let mut state = key.wrapping_mul(2).wrapping_add(u64::from(is_answer)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let byte = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..size).map(byte).collect()
}
