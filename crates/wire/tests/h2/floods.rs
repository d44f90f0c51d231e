//! Much of what is allowed: small frames by the million, uploads through small windows.

use std::time::Duration;

use onrush_wire::request::BodyUse;
use onrush_wire::{Body, FailureKind, Method, Payload, Random, Request, Segment};

use crate::peer::*;
use crate::support::tls::{trusting, url};
use crate::support::{body, get, send_all};

/// Frames of one byte each.
const FRAMES: usize = 1_000_000;

#[test]
fn a_million_small_frames_are_one_answer() {
    for body_use in [BodyUse::Discard, BodyUse::Keep] {
        let (address, server) = serve(1, |tls, _| {
            read_preface(tls);
            write(tls, &frame(SETTINGS, 0, 0, &[]));
            read_request(tls);
            write(tls, &frame(HEADERS, END_HEADERS, 1, STATUS_200));
            let run = frame(DATA, 0, 1, b"x").repeat(1000);
            (0..FRAMES / 1000).for_each(|_| write(tls, &run));
            write(tls, &frame(DATA, END_STREAM, 1, b""));
            await_close(tls);
        });
        let request = Request { body_use, timeout: Some(Duration::from_secs(60)), ..get(url(address)) };
        let exchange = send_all(trusting(), &[request]).remove(0);
        match exchange.outcome.unwrap().body {
            Body::Discarded(bytes) => assert_eq!(bytes, FRAMES as u64),
            Body::Kept(bytes) => assert!(bytes.len() == FRAMES && bytes.iter().all(|b| *b == b'x')),
            Body::None => panic!("no body"),
        }
        server.join().unwrap();
    }
}

/// The server gives its windows back frame by frame.
#[test]
fn an_upload_goes_through_the_windows_unchanged() {
    const SIZE: u64 = 3_000_001;
    let random = || Random::new(SIZE, 7);
    let (address, server) = serve(1, move |tls, _| {
        read_preface(tls);
        write(tls, &frame(SETTINGS, 0, 0, &setting(4, 1000)));
        let stream = read_request(tls).unwrap();
        let mut received = Vec::new();
        loop {
            let (kind, flags, _, payload) = read_frame(tls).unwrap();
            if kind != DATA {
                continue;
            }
            received.extend_from_slice(&payload);
            if flags & END_STREAM != 0 {
                break;
            }
            let by = (payload.len() as u32).to_be_bytes();
            if !payload.is_empty() {
                write(tls, &[frame(WINDOW_UPDATE, 0, 0, &by), frame(WINDOW_UPDATE, 0, stream, &by)].concat());
            }
        }
        let mut expected = vec![0; SIZE as usize];
        random().read_at(0, &mut expected).to_string();
        assert!(received == expected, "{} bytes", received.len());
        write(tls, &frame(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_200));
        await_close(tls);
    });
    let mut payload = Payload::empty();
    payload.push(Segment::Random(random()));
    let timeout = Some(Duration::from_secs(60));
    let request = Request { method: Method::Post, body: Some(payload), timeout, ..get(url(address)) };
    let exchange = send_all(trusting(), &[request]).remove(0);
    assert_eq!(exchange.outcome.unwrap().status, 200);
    assert!(exchange.bytes_sent > SIZE && exchange.bytes_sent < SIZE + SIZE / 5, "{}", exchange.bytes_sent);
    server.join().unwrap();
}

#[test]
fn an_upload_whose_window_never_opens_runs_into_its_timeout_and_resets_its_stream() {
    let (address, server) = serve(1, |tls, _| {
        read_preface(tls);
        write(tls, &frame(SETTINGS, 0, 0, &setting(4, 0)));
        let mut frames = std::iter::from_fn(|| read_frame(tls));
        let reset = frames.find(|(kind, ..)| *kind == RST_STREAM).unwrap();
        assert_eq!(reset.3, [0, 0, 0, 8], "CANCEL");
    });
    let body = Some(Payload::from_bytes(vec![b'a'; 100_000]));
    let timeout = Some(Duration::from_millis(300));
    let request = Request { method: Method::Post, body, timeout, ..get(url(address)) };
    let exchange = send_all(trusting(), &[request]).remove(0);
    assert_eq!(exchange.outcome.unwrap_err().kind, FailureKind::Timeout);
    server.join().unwrap();
}

#[test]
fn segments_of_any_kind_arrive_in_order() {
    let segments = [
        Segment::Static(b"abc"),
        Segment::Shared(vec![b'd'; 70_000].into()),
        Segment::Borrowed(std::rc::Rc::new(b"ef".to_vec())),
        Segment::Shared(b"g".to_vec().into()),
        Segment::Random(Random::new(5000, 1)),
        Segment::Static(b"end"),
    ];
    let mut payload = Payload::empty();
    segments.into_iter().for_each(|segment| payload.push(segment));
    let mut expected = Vec::new();
    payload.read(|piece| expected.extend_from_slice(piece)).unwrap();
    let (address, server) = serve(1, |tls, _| {
        read_preface(tls);
        write(tls, &[frame(SETTINGS, 0, 0, &setting(4, 1 << 20)), frame(WINDOW_UPDATE, 0, 0, &[0, 16, 0, 0])].concat());
        let stream = read_request(tls).unwrap();
        let mut received = Vec::new();
        while let Some((kind, flags, _, payload)) = read_frame(tls) {
            if kind == DATA {
                received.extend_from_slice(&payload);
                if flags & END_STREAM != 0 {
                    break;
                }
            }
        }
        write(tls, &frame(HEADERS, END_HEADERS, stream, STATUS_200));
        for piece in received.chunks(10_000) {
            write(tls, &frame(DATA, 0, stream, piece));
        }
        write(tls, &frame(DATA, END_STREAM, stream, b""));
        await_close(tls);
    });
    let request = Request { method: Method::Post, body: Some(payload), ..get(url(address)) };
    let exchange = send_all(trusting(), &[request]).remove(0);
    assert!(body(&exchange) == expected);
    server.join().unwrap();
}
