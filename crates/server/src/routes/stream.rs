//! Bodies that take time or leave in pieces.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use wire::field::is_token;

use crate::outgoing::respond::{BINARY, Body, JSON, Line, PieceStream, Reply, Response, TEXT};
use crate::outgoing::timed::{TimedPiece, TimedPieces};
use crate::request::{Request, bad_request, number};
use crate::routes::data::{MAX_BYTES, noise_pieces, seed};

fn timed(length: Option<u64>, pieces: impl Iterator<Item = TimedPiece> + Unpin + 'static) -> Body {
    Body::Stream { length, pieces: Box::new(TimedPieces::new(pieces)) }
}

/// Each line is a chunk and the echo with an `id`.
pub(crate) fn lines(request: &Request<'_>) -> Reply {
    let count = match number("the number of lines", &request.param(0), 0..=10_000) {
        Ok(n) => n,
        Err(reply) => return *reply,
    };
    let mut echo = request.echo();
    let line = move |id: u64| {
        echo.insert("id".into(), id.into());
        let mut line = Value::Object(echo.clone()).to_string().into_bytes();
        line.push(b'\n');
        TimedPiece::ready(line)
    };
    Response::new(200, JSON, timed(None, (0..count).map(line))).into()
}

pub(crate) fn bytes(request: &Request<'_>) -> Reply {
    let body = number("the size", &request.param(0), 0..=MAX_BYTES).and_then(|n| {
        let step = request.number("chunk_size", 10 * 1024, 1..=1024 * 1024)?;
        Ok(timed(None, noise_pieces(n, step as usize, seed(request)?)))
    });
    body.map_or_else(|reply| *reply, |body| Response::new(200, BINARY, body).into())
}

/// Bytes one by one, evenly over a time, the length known.
pub(crate) fn drip(request: &Request<'_>) -> Reply {
    try_drip(request).map_or_else(|reply| *reply, Reply::from)
}

fn try_drip(request: &Request<'_>) -> Result<Response, Box<Reply>> {
    let count = request.number("numbytes", 10, 1..=1_000_000)?;
    let over = request.duration("duration", Duration::from_secs(2))?;
    let delay = request.duration("delay", Duration::ZERO)?;
    let status = request.number("code", 200, 200..=599)? as u16;
    let gap = Duration::from_secs_f64(over.as_secs_f64() / (count - 1).max(1) as f64);
    let wait = move |at: u64| if at == 0 { Duration::ZERO } else { gap };
    let body =
        timed(Some(count), (0..count).map(move |at| TimedPiece { wait: wait(at), bytes: Bytes::from_static(b"*") }));
    Ok(Response::new(status, BINARY, body).after(delay))
}

/// Server-sent events, evenly over a time, each with its number and when it is due after the first; and, if that is
/// asked for, when it left.
pub(crate) fn events(request: &Request<'_>) -> Reply {
    try_events(request).map_or_else(|reply| *reply, Reply::from)
}

fn try_events(request: &Request<'_>) -> Result<Response, Box<Reply>> {
    let count = request.number("count", 10, 1..=100_000)?;
    let over = request.duration("duration", Duration::from_secs(5))?;
    let delay = request.duration("delay", Duration::ZERO)?;
    let stamped = request.number("stamp", 0, 0..=1)? == 1;
    let gap = over.as_nanos() / u128::from((count - 1).max(1));
    let wait = move |id: u64| if id == 0 { Duration::ZERO } else { Duration::from_nanos(gap as u64) };
    let events = (0..count).map(move |id| {
        let ms = u128::from(id) * gap / 1_000_000;
        let end = if stamped { "" } else { "}\n\n" };
        let event = format!("event: ping\ndata: {{\"id\":{id},\"ms\":{ms}{end}");
        TimedPiece { wait: wait(id), bytes: event.into() }
    });
    let pieces = TimedPieces::new(events);
    let body = if stamped { Body::stream(Stamped(pieces)) } else { Body::stream(pieces) };
    let response = Response::new(200, "text/event-stream", body).after(delay);
    Ok(response.header("Cache-Control", "no-store"))
}

/// Events whose data ends with the time at which each is handed over to be written: microseconds since 1970.
struct Stamped<P>(P);

impl<P: PieceStream> PieceStream for Stamped<P> {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        let next = ready!(self.0.poll_next(cx));
        Poll::Ready(next.map(|event| {
            let event = event?;
            let end = format!(",\"sent\":{}}}\n\n", wire::wall_ns() / 1000);
            Ok([&event[..], end.as_bytes()].concat().into())
        }))
    }
}

pub(crate) fn trailers(request: &Request<'_>) -> Reply {
    let args = request.args();
    if let Some(name) = args.keys().find(|name| !is_token(name)) {
        return *bad_request(&format!("the trailer name is {name:?}, expected a token"));
    }
    let trailers: Vec<Line> =
        args.into_iter().flat_map(|(n, vs)| vs.into_iter().map(move |v| (n.clone().into(), v.into()))).collect();
    let names: Vec<_> = trailers.iter().map(|(name, _)| name.as_ref()).collect();
    let declared = names.join(", ");
    let mut response =
        Response::new(200, TEXT, timed(None, std::iter::once(TimedPiece::ready(&b"trailers follow\n"[..]))));
    if !declared.is_empty() {
        response = response.header("Trailer", declared);
    }
    response.trailers = trailers;
    response.into()
}

pub(crate) fn early_hints(_: &Request<'_>) -> Reply {
    let mut response = Response::text(200, "early hints were sent\n");
    response.early = vec![("Link".into(), "</style.css>; rel=preload; as=style".into())];
    response.into()
}
