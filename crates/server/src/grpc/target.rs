//! The methods of `onrush.test.v1.Target`, which `target.proto` describes.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use bytes::Bytes;
use grpc::metadata::encode_binary;
use grpc::reflection::with_details;
use grpc::status::{INTERNAL, INVALID_ARGUMENT, Status};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use prost::Message;
use wire::timer;

use crate::grpc::call::{Call, DETAILS};
use crate::grpc::ended::Outcome;
use crate::grpc::messages::{
    CountRequest, DelayReply, DelayRequest, FailRequest, Field, MetadataReply, Sample, Summary, Tick,
};

/// Milliseconds of the longest wait.
const MAX_WAIT: u32 = 60_000;
/// Messages of a stream.
const MAX_COUNT: u32 = 1_000_000;
/// Bytes in a message that the target fills.
const MAX_SIZE: u32 = 1 << 20;

/// Field names that belong to the call and not to its metadata.
const OF_CALL: [&str; 8] =
    ["accept-encoding", "connection", "content-encoding", "content-length", "content-type", "host", "te", "user-agent"];

/// Reads a message.
pub(crate) fn decoded<M: Message + Default>(bytes: &[u8]) -> Result<M, Status> {
    M::decode(bytes).map_err(|error| Status::new(INTERNAL, format!("the message cannot be read: {error}")))
}

fn within(name: &str, value: u32, range: RangeInclusive<u32>) -> Result<u32, Status> {
    let expected = || format!("{name} is {value}, expected a number from {} to {}", range.start(), range.end());
    if range.contains(&value) { Ok(value) } else { Err(Status::new(INVALID_ARGUMENT, expected())) }
}

fn status(code: u32, message: String) -> Outcome {
    if code == 0 { Ok(()) } else { Err(Status { code, message }.into()) }
}

pub(crate) async fn echo(call: &Call) -> Outcome {
    let message = call.only().await?;
    call.send(&message).await
}

pub(crate) async fn delay(call: &Call) -> Outcome {
    let DelayRequest { milliseconds } = decoded(&call.only().await?)?;
    let wait = within("milliseconds", milliseconds, 0..=MAX_WAIT)?;
    let held = timer::sleep(Duration::from_millis(wait.into())).await;
    call.send(&DelayReply { held_ms: held.as_secs_f64() * 1000.0 }.encode_to_vec()).await
}

pub(crate) async fn fail(call: &Call) -> Outcome {
    let FailRequest { code, message, details } = decoded(&call.only().await?)?;
    let failure = Status { code, message };
    if !details.is_empty() {
        let value = encode_binary(&with_details(&failure, details));
        let value = HeaderValue::try_from(value).expect("base64 is printable ASCII");
        call.trailers.borrow_mut().insert(DETAILS, value);
    }
    if code == 0 { call.send(&[]).await } else { Err(failure.into()) }
}

pub(crate) async fn metadata(call: &Call) -> Outcome {
    call.only().await?;
    let is_metadata = |name: &HeaderName| {
        let name = name.as_str();
        !["grpc-", "connect-"].iter().any(|own| name.starts_with(own)) && !OF_CALL.contains(&name)
    };
    let fields = call.fields.iter().filter(|(name, _)| is_metadata(name));
    let (mut sent, mut reply) = (HeaderMap::new(), MetadataReply::default());
    for (name, value) in fields {
        sent.append(name, value.clone());
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        reply.fields.push(Field { name: name.to_string(), value });
    }
    *call.head.borrow_mut() = sent.clone();
    *call.trailers.borrow_mut() = sent;
    call.send(&reply.encode_to_vec()).await
}

pub(crate) async fn collect(call: &Call) -> Outcome {
    let mut summary = Summary::default();
    while let Some(message) = call.next().await? {
        let Sample { value, payload } = decoded(&message)?;
        summary.count += 1;
        summary.sum += value;
        summary.payload_bytes += payload.len() as u64;
    }
    call.send(&summary.encode_to_vec()).await
}

pub(crate) async fn count(call: &Call) -> Outcome {
    let asked: CountRequest = decoded(&call.only().await?)?;
    let count = within("count", asked.count, 0..=MAX_COUNT)?;
    let interval = Duration::from_millis(within("interval_ms", asked.interval_ms, 0..=MAX_WAIT)?.into());
    let payload = Bytes::from(vec![b'x'; within("size", asked.size, 0..=MAX_SIZE)? as usize]);
    let mut due = Instant::now();
    for number in 0..count {
        if number > 0 && !interval.is_zero() {
            due += interval;
            timer::sleep_until(due).await;
        }
        let sent_us = (wire::wall_ns() / 1000) as i64;
        call.send(&Tick { number, sent_us, payload: payload.clone() }.encode_to_vec()).await?;
    }
    status(asked.code, asked.message)
}

pub(crate) async fn chat(call: &Call) -> Outcome {
    // A client may wait for the head before it says anything.
    call.open()?;
    while let Some(message) = call.next().await? {
        call.send(&message).await?;
    }
    Ok(())
}
