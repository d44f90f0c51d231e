//! Faults as HTTP/2 can have them.
//!
//! A fault is written down as the bytes of an HTTP/1.1 connection and what happens then. What of it is a response is
//! sent as one; a reset is RST_STREAM; a stall holds the stream and not the connection; closing closes the connection
//! without GOAWAY, and so ends every stream on it; what breaks HTTP/1.1's framing becomes bytes that break HTTP/2's.

use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::Reason;
use http::header::CONTENT_LENGTH;

use crate::fault::{Fault, STALL, Then};
use crate::h2::head;
use crate::h2::send::wanted;
use crate::outgoing::http2_out::Respond;
use crate::outgoing::respond::Line;
use wire::timer;

/// A DATA frame on stream 0, where none may be (RFC 9113, 6.1).
const DATA_OF_NO_STREAM: &[u8] = b"\0\0\x05\0\0\0\0\0\0world";

/// How a fault ends the connection, streams that run included.
#[derive(Debug)]
pub(crate) struct Ending {
    /// Written as they are.
    pub(crate) bytes: Vec<u8>,
}

/// What a fault's bytes hold when they are a response.
struct FaultAnswer {
    status: u16,
    lines: Vec<Line>,
    length: Option<String>,
    chunked: bool,
    body: Vec<u8>,
}

impl FaultAnswer {
    fn parse(bytes: &[u8]) -> Option<FaultAnswer> {
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let mut response = httparse::Response::new(&mut headers);
        let Ok(httparse::Status::Complete(len)) = response.parse(bytes) else { return None };
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let value = |name: &str| response.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name)).map(|h| h.value);
        Some(FaultAnswer {
            status: response.code?,
            lines: response.headers.iter().map(|h| (h.name.to_owned().into(), text(h.value).into())).collect(),
            length: value("content-length").map(text),
            chunked: value("transfer-encoding").is_some(),
            body: bytes[len..].to_vec(),
        })
    }

    /// Sends head and body, byte by byte with `each` as pause; `ends` says whether END_STREAM is sent. The
    /// declared length stands even if it is not the body's. Stops when the client has gone.
    async fn send(self, respond: &Respond, each: Option<Duration>, ends: bool) -> Result<(), h2::Error> {
        let mut head = head::interim(self.status, &self.lines);
        if let Some(length) = self.length.and_then(|length| length.parse::<u64>().ok()) {
            head.headers_mut().insert(CONTENT_LENGTH, length.into());
        }
        let mut body = if self.chunked { Bytes::from_static(b"hello") } else { self.body.into() };
        let mut stream = respond.borrow_mut().send_response(head, false)?;
        let mut due = Instant::now();
        while let Some(each) = each.filter(|_| body.len() > 1) {
            due += each;
            timer::sleep_until(due).await;
            stream.send_data(body.split_to(1), false)?;
        }
        stream.send_data(body, ends)
    }
}

/// Misbehaves; what is to happen to the connection afterwards, if anything.
pub(crate) async fn carry_out(fault: Fault, respond: &Respond) -> Option<Ending> {
    let answer = FaultAnswer::parse(&fault.bytes);
    match fault.then {
        Then::Reset => {
            respond.borrow_mut().send_reset(Reason::INTERNAL_ERROR);
            None
        }
        Then::Stall => {
            if wanted(respond, timer::sleep(STALL)).await.is_some() {
                respond.borrow_mut().send_reset(Reason::CANCEL);
            }
            None
        }
        Then::GoOn => {
            let _gone = answer?.send(respond, fault.each, true).await;
            None
        }
        Then::CloseAfter(wait) => {
            let _gone = answer?.send(respond, fault.each, true).await;
            timer::sleep(wait).await;
            Some(Ending { bytes: Vec::new() })
        }
        Then::Close => Some(match answer {
            None => Ending { bytes: fault.bytes.into_owned() },
            Some(answer) => {
                let bytes = if answer.chunked { DATA_OF_NO_STREAM.to_vec() } else { Vec::new() };
                let _gone = answer.send(respond, fault.each, false).await;
                Ending { bytes }
            }
        }),
    }
}
