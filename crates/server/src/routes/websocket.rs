//! Websockets: an echo, rooms, and servers that misbehave.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use tokio::task::spawn_local;
use wire::timer;
use wire::ws::handshake::{Refusal, Upgrade};
use wire::ws::{Shared, close};

use crate::outgoing::respond::{Reply, Response};
use crate::request::{Request, bad_request, duration, number};
use crate::ws::{FULL, Kind, Message, Opening, Socket, SocketHandler};

/// Bytes held for one client at most.
const MOST_HELD: usize = 16 << 20;
/// Messages of a flood at most.
const MOST_FLOOD: u64 = 1_000_000;

/// Accepts the upgrade with the first subprotocol offered, or answers why not.
fn accept(request: &Request<'_>, handler: Rc<dyn SocketHandler>) -> Reply {
    let headers: Vec<_> = request.head.headers.iter().map(|h| (h.name, h.value)).collect();
    match Upgrade::check(request.head.method, request.head.minor, &headers) {
        Ok(upgrade) => {
            let protocol = upgrade.protocols.first().cloned();
            Reply::Upgrade(Box::new(Opening::new(upgrade, handler).protocol(protocol)))
        }
        Err(Refusal { status, why }) => {
            let response = Response::error(status, why);
            match status {
                426 => response.header("Upgrade", "websocket").header("Sec-WebSocket-Version", "13").into(),
                _ => response.into(),
            }
        }
    }
}

pub(crate) fn echo(request: &Request<'_>) -> Reply {
    struct Echo;
    impl SocketHandler for Echo {
        fn message(&self, socket: &Socket, message: Message<'_>) {
            socket.send(message.kind(), message.bytes());
        }
    }
    accept(request, Rc::new(Echo))
}

/// Holds each message for so long, several at a time, and says when it came and when it went.
pub(crate) fn hold(request: &Request<'_>) -> Reply {
    struct Holding {
        wait: Duration,
        /// Bytes of messages that are being held.
        held: Rc<Cell<usize>>,
    }
    impl SocketHandler for Holding {
        fn message(&self, socket: &Socket, message: Message<'_>) {
            let (size, kind) = (message.bytes().len(), message.kind());
            if self.held.get() + size > MOST_HELD {
                socket.close(close::TOO_BIG, "more than 16 MiB are being held");
                return;
            }
            self.held.set(self.held.get() + size);
            let (content, arrived_us) = (message.bytes().to_vec(), socket.arrived_ns() / 1000);
            let (wait, socket, held) = (self.wait, socket.clone(), Rc::clone(&self.held));
            spawn_local(async move {
                timer::sleep(wait).await;
                let stamps = format!(",{arrived_us},{}]", wire::wall_ns() / 1000);
                socket.send(kind, &[b"[".as_slice(), &content, stamps.as_bytes()].concat());
                held.set(held.get() - size);
            });
        }

        fn wants_arrivals(&self) -> bool {
            true
        }
    }
    match duration("the time to hold", &request.param(0)) {
        Ok(wait) => accept(request, Rc::new(Holding { wait, held: Rc::default() })),
        Err(reply) => *reply,
    }
}

pub(crate) fn broadcast(request: &Request<'_>) -> Reply {
    struct Member {
        room: String,
        hears_itself: bool,
    }
    impl SocketHandler for Member {
        fn open(&self, socket: &Socket) {
            socket.subscribe(&self.room);
        }

        fn message(&self, socket: &Socket, message: Message<'_>) {
            let shared = Shared::new(message.kind(), message.bytes());
            socket.publish_shared(&self.room, &shared, self.hears_itself);
        }
    }
    let hears_itself = request.arg("self").is_some_and(|value| value == "true");
    accept(request, Rc::new(Member { room: request.param(0).into_owned(), hears_itself }))
}

/// Closes with that code once it is open.
pub(crate) fn closing(request: &Request<'_>) -> Reply {
    struct Closing {
        code: u16,
        reason: String,
    }
    impl SocketHandler for Closing {
        fn open(&self, socket: &Socket) {
            socket.close(self.code, &self.reason);
        }

        fn message(&self, _: &Socket, _: Message<'_>) {}
    }
    let code = match number("the close code", &request.param(0), 1000..=4999) {
        Ok(code) if close::is_sendable(code as u16) => code as u16,
        Ok(_) => {
            return *bad_request(
                "this close code must not be sent, expected 1000 to 1003, 1007 to 1014 or 3000 to 4999",
            );
        }
        Err(reply) => return *reply,
    };
    let reason = request.arg("reason").unwrap_or_default().into_owned();
    accept(request, Rc::new(Closing { code, reason }))
}

/// What a misbehaving server does once it is open.
enum Misdeed {
    BadFrame,
    MidMessage,
    Drop,
    Flood { left: Cell<u64>, message: Shared },
}

impl SocketHandler for Misdeed {
    fn open(&self, socket: &Socket) {
        match self {
            // A reserved opcode.
            Misdeed::BadFrame => socket.push_raw(b"\x83\x00"),
            Misdeed::MidMessage => {
                socket.push_raw(b"\x81\x0ahalf ");
                socket.hang_up();
            }
            Misdeed::Drop => socket.hang_up(),
            Misdeed::Flood { .. } => self.drain(socket),
        }
    }

    fn message(&self, _: &Socket, _: Message<'_>) {}

    /// The flood continues as the client takes it.
    fn drain(&self, socket: &Socket) {
        let Misdeed::Flood { left, message } = self else { return };
        while left.get() > 0 && socket.buffered() < FULL && socket.send_shared(message) {
            left.set(left.get() - 1);
        }
        if left.get() == 0 {
            socket.close(close::NORMAL, "");
        }
    }
}

pub(crate) fn fault(request: &Request<'_>) -> Reply {
    let misdeed = match &*request.param(0) {
        "bad-frame" => Misdeed::BadFrame,
        "mid-message" => Misdeed::MidMessage,
        "drop" => Misdeed::Drop,
        "flood" => {
            let count = request.number("count", 10_000, 1..=MOST_FLOOD);
            match count.and_then(|count| Ok((count, request.number("size", 100, 0..=65_536)?))) {
                Ok((count, size)) => Misdeed::Flood {
                    left: Cell::new(count),
                    message: Shared::new(Kind::Text, &vec![b'x'; size as usize]),
                },
                Err(reply) => return *reply,
            }
        }
        other => {
            let detail = format!("the fault is {other:?}, expected bad-frame, mid-message, drop or flood");
            return *bad_request(&detail);
        }
    };
    accept(request, Rc::new(misdeed))
}
