//! A connection to one broker: a request, its response, in the newest version that both sides know.
//!
//! Invariant: a connection whose call failed, or was given up, is not used again. Its holder drops it.

use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};
use kafka_protocol::error::ParseResponseErrorCode;
use kafka_protocol::messages::{ApiVersionsRequest, RequestHeader, ResponseHeader};
use kafka_protocol::protocol::{Decodable, HeaderVersion, Request, StrBytes, encode_request_header_into_buffer};
use rustc_hash::FxHashMap;
use script::Vu;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wire::client::{ByteStream, StreamTraffic};

use super::options::Access;
use super::sasl;
use crate::client::dial::{self, Place};

/// Bytes of a response at most: what Kafka's own clients take.
const RESPONSE_LIMIT: usize = 100 << 20;
const CLIENT: &str = "onrush";

/// The names of errors: `kafka: Unknown Topic Or Partition`, as the protocol's list has them, with their numbers.
pub fn error_text(code: i16) -> Option<String> {
    code.err().map(|error| format!("{error} ({code})"))
}

/// A connection.
pub struct KafkaBroker {
    /// Its address, for people.
    shown: String,
    stream: ByteStream,
    traffic: Rc<StreamTraffic>,
    versions: FxHashMap<i16, (i16, i16)>,
    correlation: i32,
    /// How long connecting took, greeting included.
    pub dialled: Duration,
}

impl KafkaBroker {
    /// Connects, asks what the broker speaks, and says who we are.
    pub async fn open(vu: &Vu, place: &Place, access: &Access) -> Result<KafkaBroker, String> {
        let began = Instant::now();
        let shown = format!("broker {}:{}", place.host, place.port);
        let tls = access.tls.as_ref().map(|configs| Some(&**configs));
        let stream = dial::open(vu, place, tls, access.timeout).await.map_err(|why| format!("{shown}: {why}"))?;
        let traffic = stream.traffic();
        let versions = FxHashMap::from_iter([(ApiVersionsRequest::KEY, (0, 0))]);
        let mut broker = KafkaBroker { shown, stream, traffic, versions, correlation: 0, dialled: Duration::ZERO };
        let greeted = async {
            let known = broker.call(vu, &ApiVersionsRequest::default(), 0, access.timeout).await?;
            let ranges = known.api_keys.iter().map(|api| (api.api_key, (api.min_version, api.max_version)));
            broker.versions = ranges.collect();
            match &access.sasl {
                Some(login) => {
                    let done = sasl::login(vu, &mut broker, login, access.timeout).await;
                    done.map_err(|why| format!("{}: {why}", broker.shown))
                }
                None => Ok(()),
            }
        };
        greeted.await?;
        broker.dialled = began.elapsed();
        Ok(broker)
    }

    /// One request and its response; `newest` is the newest version that the request is filled in for.
    pub async fn call<R: Request>(
        &mut self,
        vu: &Vu,
        request: &R,
        newest: i16,
        timeout: Duration,
    ) -> Result<R::Response, String> {
        let answered = self.exchange(vu, request, newest, timeout).await;
        answered.map_err(|why| format!("{}: {why}", self.shown))
    }

    /// The same; the error does not say whose it is.
    pub async fn exchange<R: Request>(
        &mut self,
        vu: &Vu,
        request: &R,
        newest: i16,
        timeout: Duration,
    ) -> Result<R::Response, String> {
        let version = self.send(request, newest, timeout).await?;
        let received = tokio::time::timeout(timeout, self.receive()).await;
        dial::count(vu, &self.traffic);
        let mut bytes = received.map_err(|_| format!("no response within {} ms", timeout.as_millis()))??;
        let wrong = |error: &dyn std::fmt::Display| format!("the response cannot be read: {error}");
        let header = ResponseHeader::decode(&mut bytes, R::Response::header_version(version));
        let header = header.map_err(|error| wrong(&error))?;
        if header.correlation_id != self.correlation {
            return Err(format!("found response {}, expected {}", header.correlation_id, self.correlation));
        }
        R::Response::decode(&mut bytes, version).map_err(|error| wrong(&error))
    }

    /// Sends a request whose response does not come.
    pub async fn tell<R: Request>(&mut self, vu: &Vu, request: &R, newest: i16, time: Duration) -> Result<(), String> {
        let sent = self.send(request, newest, time).await.map(drop);
        dial::count(vu, &self.traffic);
        sent.map_err(|why| format!("{}: {why}", self.shown))
    }

    async fn send<R: Request>(&mut self, request: &R, newest: i16, timeout: Duration) -> Result<i16, String> {
        let version = self.version::<R>(newest)?;
        self.correlation = self.correlation.wrapping_add(1);
        let mut header = RequestHeader::default();
        header.request_api_key = R::KEY;
        header.request_api_version = version;
        header.correlation_id = self.correlation;
        header.client_id = Some(StrBytes::from_static_str(CLIENT));
        let mut bytes = BytesMut::from(&[0; 4][..]);
        let written =
            encode_request_header_into_buffer(&mut bytes, &header).and_then(|()| request.encode(&mut bytes, version));
        written.map_err(|error| format!("the request cannot be written: {error}"))?;
        let length = (bytes.len() - 4) as u32;
        bytes[..4].copy_from_slice(&length.to_be_bytes());
        let sent = tokio::time::timeout(timeout, async {
            self.stream.write_all(&bytes).await?;
            self.stream.flush().await
        });
        match sent.await {
            Ok(sent) => sent.map(|()| version).map_err(|error| error.to_string()),
            Err(_) => Err(format!("the request was not sent within {} ms", timeout.as_millis())),
        }
    }

    fn version<R: Request>(&self, newest: i16) -> Result<i16, String> {
        let (low, high) = self.versions.get(&R::KEY).copied().unwrap_or((0, -1));
        let (low, high) = (low.max(R::VERSIONS.min), high.min(newest).min(R::VERSIONS.max));
        if low <= high {
            return Ok(high);
        }
        let (key, least) = (R::KEY, R::VERSIONS.min);
        Err(format!("the broker does not speak request {key} in version {least} to {newest}: it is too old or too new"))
    }

    async fn receive(&mut self) -> Result<Bytes, String> {
        let lost = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => String::from("the broker closed the connection"),
            _ => error.to_string(),
        };
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).await.map_err(lost)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > RESPONSE_LIMIT {
            return Err(format!("a response of {length} bytes, expected {RESPONSE_LIMIT} at most: is this Kafka?"));
        }
        let mut bytes = BytesMut::with_capacity(length);
        while bytes.len() < length {
            let left = length - bytes.len();
            let mut room = (&mut self.stream).take(left as u64);
            if room.read_buf(&mut bytes).await.map_err(lost)? == 0 {
                return Err(String::from("the broker closed the connection"));
            }
        }
        Ok(bytes.copy_to_bytes(length))
    }

    /// Whether the broker has not closed it while it was idle.
    pub fn is_usable(&mut self) -> bool {
        self.stream.is_quiet()
    }
}
