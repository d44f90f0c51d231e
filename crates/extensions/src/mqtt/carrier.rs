//! What packets go over: a stream, or a WebSocket. Opening it, the greeting included.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use rumqttc::mqttbytes::v4::{ConnectReturnCode, Packet};
use rumqttc::mqttbytes::{self};
use script::Vu;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wire::client::{Ask, Broken, ByteStream, StreamTraffic, WebSocket};
use wire::ws::{Event, Kind};
use wire::{Failure, Url};

use super::plan::{Broker, Plan, Way};
use super::session::write;
use crate::client::dial;

/// Bytes of a packet at most: what the format allows.
const PACKET_LIMIT: usize = 256 << 20;
const READ_ROOM: usize = 16 << 10;

enum Over {
    Stream(ByteStream, Rc<StreamTraffic>),
    Socket(Box<WebSocket>),
}

/// A connection to a broker.
pub struct Carrier {
    over: Over,
    /// Written by the next that flushes.
    pub out: BytesMut,
    incoming: BytesMut,
}

/// Opens a connection to the first broker that takes the greeting, and whether it knows the session.
pub async fn open(vu: &Vu, plan: &Plan) -> Result<(Carrier, bool), String> {
    let mut failures = Vec::new();
    for broker in &plan.brokers {
        let greeted = tokio::time::timeout(plan.timeout, greet(vu, plan, broker)).await;
        let why = match greeted {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(why)) => why,
            Err(_) => format!("no answer within {} ms", plan.timeout.as_millis()),
        };
        failures.push(format!("{}: {why}", broker.shown));
    }
    Err(failures.join("; "))
}

async fn greet(vu: &Vu, plan: &Plan, broker: &Broker) -> Result<(Carrier, bool), String> {
    let over = match &broker.way {
        Way::Stream { place, is_secure } => {
            let stream = dial::open(vu, place, is_secure.then_some(None), plan.timeout).await?;
            let traffic = stream.traffic();
            Over::Stream(stream, traffic)
        }
        Way::Socket(address) => Over::Socket(Box::new(open_socket(vu, plan, address).await?)),
    };
    let mut carrier = Carrier { over, out: BytesMut::new(), incoming: BytesMut::new() };
    write(&Packet::Connect(plan.greeting(broker)), &mut carrier.out)?;
    let answer = poll_fn(|cx| carrier.poll_answer(cx)).await;
    carrier.count(vu);
    match answer? {
        Packet::ConnAck(ack) if ack.code == ConnectReturnCode::Success => Ok((carrier, ack.session_present)),
        Packet::ConnAck(ack) => Err(format!("the broker refused the connection: {}", reason(ack.code))),
        other => Err(format!("the broker's first packet is {other:?}, expected CONNACK")),
    }
}

async fn open_socket(vu: &Vu, plan: &Plan, address: &str) -> Result<WebSocket, String> {
    let url = Url::parse(address).map_err(|error| error.message)?;
    let protocols = [String::from("mqtt")];
    let ask = Ask {
        url: &url,
        headers: &[],
        protocols: &protocols,
        deflate: None,
        timeout: plan.timeout,
        message_limit: PACKET_LIMIT,
    };
    let opening = vu.client().open_websocket(&ask, None).await;
    vu.count_data(opening.bytes_sent, opening.bytes_received);
    opening.outcome.map_err(|failure: Failure| failure.message)
}

fn reason(code: ConnectReturnCode) -> &'static str {
    match code {
        ConnectReturnCode::Success => "accepted",
        ConnectReturnCode::RefusedProtocolVersion => "it does not speak MQTT 3.1.1",
        ConnectReturnCode::BadClientId => "the client identifier is rejected",
        ConnectReturnCode::ServiceUnavailable => "the service is unavailable",
        ConnectReturnCode::BadUserNamePassword => "bad user name or password",
        ConnectReturnCode::NotAuthorized => "not authorized",
    }
}

impl Carrier {
    /// The next packet that has come in full.
    pub fn packet(&mut self) -> Result<Option<Packet>, String> {
        if self.incoming.is_empty() {
            return Ok(None);
        }
        match Packet::read(&mut self.incoming, PACKET_LIMIT) {
            Ok(packet) => Ok(Some(packet)),
            Err(mqttbytes::Error::InsufficientBytes(_)) => Ok(None),
            Err(error) => Err(format!("the broker's packet cannot be read: {error}")),
        }
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Packet, String>> {
        let _flushed = self.poll_flush(cx)?;
        loop {
            if let Some(packet) = self.packet()? {
                return Poll::Ready(Ok(packet));
            }
            ready!(self.poll_read(cx))?;
        }
    }

    /// Reads once. The end of the connection is an error.
    pub fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), String>> {
        const CLOSED: &str = "the broker closed the connection";
        let incoming = &mut self.incoming;
        match &mut self.over {
            Over::Stream(stream, _) => {
                let mut room = [0; READ_ROOM];
                let mut buffer = ReadBuf::new(&mut room);
                ready!(Pin::new(stream).poll_read(cx, &mut buffer)).map_err(|error| error.to_string())?;
                if buffer.filled().is_empty() {
                    return Poll::Ready(Err(String::from(CLOSED)));
                }
                incoming.extend_from_slice(buffer.filled());
                Poll::Ready(Ok(()))
            }
            Over::Socket(socket) => {
                let (mut pings, mut is_closed) = (Vec::new(), false);
                let read = socket.poll_receive(cx, |event| match event {
                    Event::Binary(bytes) => incoming.extend_from_slice(bytes),
                    Event::Text(text) => incoming.extend_from_slice(text.as_bytes()),
                    Event::Ping(payload) => pings.push(payload.to_vec()),
                    Event::Pong(_) => {}
                    Event::Close(_) => is_closed = true,
                });
                pings.iter().for_each(|payload| socket.pong(payload));
                ready!(read).map_err(|broken| match broken {
                    Broken::Network(None) => String::from(CLOSED),
                    broken => broken.message(),
                })?;
                Poll::Ready(if is_closed { Err(String::from(CLOSED)) } else { Ok(()) })
            }
        }
    }

    /// Writes what is queued; ready when the kernel has all of it.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), String>> {
        match &mut self.over {
            Over::Stream(stream, _) => {
                while !self.out.is_empty() {
                    let written = ready!(Pin::new(&mut *stream).poll_write(cx, &self.out));
                    let count = written.map_err(|error| error.to_string())?;
                    let _written = self.out.split_to(count);
                }
                ready!(Pin::new(stream).poll_flush(cx)).map_err(|error| error.to_string())?;
            }
            Over::Socket(socket) => {
                if !self.out.is_empty() {
                    socket.message(Kind::Binary, &self.out.split());
                }
                ready!(socket.poll_flush(cx)).map_err(|failure| failure.message)?;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Counts what went over the network since the last time.
    pub fn count(&mut self, vu: &Vu) {
        match &mut self.over {
            Over::Stream(_, traffic) => dial::count(vu, traffic),
            Over::Socket(socket) => {
                let (sent, received) = socket.take_counts();
                vu.count_data(sent, received);
            }
        }
    }

    /// Bytes that were not written yet.
    pub fn queued(&self) -> usize {
        self.out.len()
    }
}
