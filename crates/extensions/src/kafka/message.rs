//! Messages: as scripts give and get them, and as batches of records.

use std::io;

use bytes::{Bytes, BytesMut};
use host::bytes as script_bytes;
use host::js::object::Filter;
use host::js::{Coerced, Ctx, FromJs, Object, Result, TypedArray, Value};
use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression, NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, Record, RecordBatchDecoder,
    RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};
use script::arguments::member;
use script::go_error;

use super::compression;

/// Where the length of a batch ends, and where the number of its last record is (KIP-98, record batch).
const BATCH_HEAD: usize = 12;
const LAST_OFFSET_DELTA: std::ops::Range<usize> = 23..27;

/// A message on its way to a broker.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// The topic, where the writer has none.
    pub topic: String,
    /// Where the script wants it.
    pub partition: Option<i32>,
    /// By which a balancer may choose.
    pub key: Option<Bytes>,
    /// Nothing deletes the key where the topic is compacted.
    pub value: Option<Bytes>,
    headers: IndexMap<StrBytes, Option<Bytes>>,
    timestamp_ms: Option<i64>,
}

/// A message that came from a broker.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The topic.
    pub topic: std::rc::Rc<str>,
    /// The partition.
    pub partition: i32,
    /// Where the next message of the partition begins, as far as was known.
    pub high_water_mark: i64,
    /// The record.
    pub record: Record,
}

impl Outgoing {
    /// Reads what a script gave.
    pub fn from_js<'js>(ctx: &Ctx<'js>, index: usize, value: &Value<'js>) -> Result<Outgoing> {
        let refuse = |why: String| go_error::throw(ctx, &format!("produce: message {index}: {why}"));
        let Some(object) = value.as_object() else {
            return Err(refuse(format!("found {}, expected an object", value.type_name())));
        };
        let content = |name: &str| match member(object, name)? {
            None => Ok(None),
            Some(value) => match script_bytes::read(ctx, &value, <[u8]>::to_vec)? {
                Some(bytes) => Ok(Some(Bytes::from(bytes))),
                None => {
                    let found = value.type_name();
                    let hint = "expected bytes or a string: use SchemaRegistry.serialize for others";
                    Err(refuse(format!("{name}: found {found}, {hint}")))
                }
            },
        };
        let mut message = Outgoing { key: content("key")?, value: content("value")?, ..Outgoing::default() };
        if let Some(topic) = member(object, "topic")? {
            message.topic = script_bytes::to_text(ctx, &topic)?;
        }
        if let Some(partition) = member(object, "partition")? {
            message.partition = Some(Coerced::<i32>::from_js(ctx, partition)?.0);
        }
        if let Some(time) = member(object, "time")? {
            let ms = Coerced::<f64>::from_js(ctx, time)?.0;
            if !ms.is_finite() {
                return Err(refuse(String::from("time: expected a Date, or milliseconds since 1970")));
            }
            message.timestamp_ms = Some(ms as i64);
        }
        if let Some(headers) = member(object, "headers")?.and_then(Value::into_object) {
            for header in headers.own_props::<String, Value<'js>>(Filter::new().string().enum_only()) {
                let (name, value) = header?;
                let value = match script_bytes::read(ctx, &value, <[u8]>::to_vec)? {
                    Some(bytes) => bytes,
                    None => script_bytes::to_text(ctx, &value)?.into_bytes(),
                };
                message.headers.insert(StrBytes::from_string(name), Some(Bytes::from(value)));
            }
        }
        Ok(message)
    }

    /// Bytes of key and value.
    pub fn size(&self) -> usize {
        self.key.as_ref().map_or(0, Bytes::len) + self.value.as_ref().map_or(0, Bytes::len)
    }
}

/// A batch of these messages.
pub fn batch(messages: &[Outgoing], how: Compression, now_ms: i64) -> std::result::Result<Bytes, String> {
    let record = |(index, message): (usize, &Outgoing)| Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
        producer_id: NO_PRODUCER_ID,
        producer_epoch: NO_PRODUCER_EPOCH,
        timestamp_type: TimestampType::Creation,
        offset: index as i64,
        sequence: NO_SEQUENCE.wrapping_add(index as i32),
        timestamp: message.timestamp_ms.unwrap_or(now_ms),
        key: message.key.clone(),
        value: message.value.clone(),
        headers: message.headers.clone(),
    };
    let records: Vec<Record> = messages.iter().enumerate().map(record).collect();
    let mut bytes = BytesMut::new();
    let options = RecordEncodeOptions { version: 2, compression: how };
    let pack = |plain: &mut BytesMut, out: &mut BytesMut, how| Ok(compression::pack(plain, out, how)?);
    RecordBatchEncoder::encode_with_custom_compression(&mut bytes, &records, &options, Some(pack))
        .map_err(|error| format!("the messages cannot be written: {error}"))?;
    Ok(bytes.freeze())
}

/// The records of a response, and where the next begins. What is cut off at its end comes with the next response.
pub fn records(mut bytes: Bytes) -> std::result::Result<(Vec<Record>, Option<i64>), String> {
    let (mut records, mut next) = (Vec::new(), None);
    let whole = |bytes: &Bytes| {
        let length = i32::from_be_bytes(bytes.get(8..BATCH_HEAD)?.try_into().ok()?);
        let end = usize::try_from(length).ok()?.checked_add(BATCH_HEAD)?;
        (bytes.len() >= end).then_some(end)
    };
    while let Some(end) = whole(&bytes) {
        let mut batch = bytes.split_to(end);
        let (first, delta) = (batch[..8].try_into(), batch.get(LAST_OFFSET_DELTA).map(<[u8; 4]>::try_from));
        let (Ok(first), Some(Ok(delta))) = (first, delta) else { return Err(String::from("a batch without a head")) };
        next = Some(i64::from_be_bytes(first) + i64::from(i32::from_be_bytes(delta)) + 1);
        let unpack = |packed: &mut Bytes, how| Ok(compression::unpack(packed, how).map_err(io::Error::other)?);
        let set = RecordBatchDecoder::decode_with_custom_compression(&mut batch, Some(unpack));
        records.extend(set.map_err(|error| format!("a batch cannot be read: {error}"))?.records);
    }
    Ok((records, next))
}

impl Incoming {
    /// As scripts get it.
    pub fn to_js<'js>(&self, ctx: &Ctx<'js>, is_precise: bool) -> Result<Object<'js>> {
        let object = Object::new(ctx.clone())?;
        object.set("topic", &*self.topic)?;
        object.set("partition", self.partition)?;
        object.set("offset", self.record.offset as f64)?;
        object.set("time", time_text(self.record.timestamp, is_precise))?;
        object.set("highWaterMark", self.high_water_mark as f64)?;
        let bytes =
            |bytes: &Bytes| TypedArray::<u8>::from_arraybuffer(script_bytes::array_buffer(ctx, bytes.to_vec())?);
        if let Some(key) = &self.record.key {
            object.set("key", bytes(key)?)?;
        }
        if let Some(value) = &self.record.value {
            object.set("value", bytes(value)?)?;
        }
        let headers = Object::new(ctx.clone())?;
        for (name, value) in &self.record.headers {
            headers.set(name.as_str(), bytes(value.as_ref().unwrap_or(&Bytes::new()))?)?;
        }
        object.set("headers", headers)?;
        Ok(object)
    }

    /// Bytes of key and value.
    pub fn size(&self) -> usize {
        self.record.key.as_ref().map_or(0, Bytes::len) + self.record.value.as_ref().map_or(0, Bytes::len)
    }
}

/// RFC 3339, in seconds or as precise as Kafka's times are.
fn time_text(ms: i64, is_precise: bool) -> String {
    let text = units::date::rfc3339_at(ms.div_euclid(1000)).unwrap_or_default();
    match (ms.rem_euclid(1000), is_precise) {
        (1.., true) => text.replace('Z', &format!(".{:03}Z", ms.rem_euclid(1000))),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_read_as_they_were_written() {
        let message = |value: &'static str| Outgoing {
            key: Some(Bytes::from_static(b"k")),
            value: Some(Bytes::from_static(value.as_bytes())),
            headers: IndexMap::from_iter([(StrBytes::from_static_str("h"), Some(Bytes::from_static(b"1")))]),
            ..Outgoing::default()
        };
        for how in [Compression::None, Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
            let bytes = batch(&[message("a"), message("b")], how, 7).unwrap();
            let twice = Bytes::from([&bytes[..], &bytes[..], &bytes[..20]].concat());
            let (records, next) = records(twice).unwrap();
            let values: Vec<_> = records.iter().map(|record| record.value.clone().unwrap()).collect();
            assert_eq!(
                (values, next),
                (vec!["a".into(), "b".into(), "a".into(), Bytes::from("b")], Some(2)),
                "{how:?}"
            );
            assert_eq!((records[0].timestamp, records[1].offset, records[0].headers.len()), (7, 1, 1));
        }
        let mut spoiled = batch(&[message("a")], Compression::None, 0).unwrap().to_vec();
        *spoiled.last_mut().unwrap() ^= 1;
        assert!(records(spoiled.into()).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn times() {
        assert_eq!(time_text(1_000, false), "1970-01-01T00:00:01Z");
        assert_eq!(time_text(1_007, true), "1970-01-01T00:00:01.007Z");
    }
}
