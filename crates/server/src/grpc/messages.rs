//! The messages of `target.proto` and `health.proto` that the target reads or makes; those that it only sends back have
//! no type here. A test holds them against the files.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DelayRequest {
    #[prost(uint32, tag = "1")]
    pub(crate) milliseconds: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DelayReply {
    #[prost(double, tag = "1")]
    pub(crate) held_ms: f64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct FailRequest {
    #[prost(uint32, tag = "1")]
    pub(crate) code: u32,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    /// Each a message `google.protobuf.Any`.
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub(crate) details: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MetadataReply {
    #[prost(message, repeated, tag = "1")]
    pub(crate) fields: Vec<Field>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Field {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sample {
    #[prost(double, tag = "1")]
    pub(crate) value: f64,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) payload: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Summary {
    #[prost(uint64, tag = "1")]
    pub(crate) count: u64,
    #[prost(double, tag = "2")]
    pub(crate) sum: f64,
    #[prost(uint64, tag = "3")]
    pub(crate) payload_bytes: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CountRequest {
    #[prost(uint32, tag = "1")]
    pub(crate) count: u32,
    #[prost(uint32, tag = "2")]
    pub(crate) interval_ms: u32,
    #[prost(uint32, tag = "3")]
    pub(crate) size: u32,
    #[prost(uint32, tag = "4")]
    pub(crate) code: u32,
    #[prost(string, tag = "5")]
    pub(crate) message: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Tick {
    #[prost(uint32, tag = "1")]
    pub(crate) number: u32,
    #[prost(int64, tag = "2")]
    pub(crate) sent_us: i64,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) payload: bytes::Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HealthCheckRequest {
    #[prost(string, tag = "1")]
    pub(crate) service: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HealthCheckResponse {
    /// A `ServingStatus`.
    #[prost(int32, tag = "1")]
    pub(crate) status: i32,
}

#[cfg(test)]
mod tests {
    use prost_reflect::DynamicMessage;

    use super::*;
    use crate::grpc::files::files;

    /// The fields that the file finds in the bytes.
    fn read(name: &str, message: &impl Message) -> String {
        let descriptor = files().get_message_by_name(name).unwrap();
        let read = DynamicMessage::decode(descriptor, &*message.encode_to_vec()).unwrap();
        assert_eq!(read.unknown_fields().count(), 0, "{name}");
        read.fields().map(|(field, value)| format!("{}={value} ", field.name())).collect()
    }

    #[test]
    fn messages_are_those_of_the_files() {
        let text = || String::from("t");
        let target = |name: &str| format!("onrush.test.v1.{name}");
        let health = |name: &str| format!("grpc.health.v1.{name}");
        let fields = vec![Field { name: text(), value: text() }];
        let asked = CountRequest { count: 1, interval_ms: 2, size: 3, code: 4, message: text() };
        let tick = Tick { number: 1, sent_us: 2, payload: bytes::Bytes::from_static(b"b") };
        let fail = FailRequest { code: 5, message: text(), details: vec![b"\x0a\x01u".to_vec()] };
        for (found, expected) in [
            (read(&target("DelayRequest"), &DelayRequest { milliseconds: 1 }), "milliseconds=1 "),
            (read(&target("DelayReply"), &DelayReply { held_ms: 1.5 }), "held_ms=1.5 "),
            (read(&target("FailRequest"), &fail), "code=5 message=\"t\" details=[{type_url:\"u\"}] "),
            (read(&target("MetadataReply"), &MetadataReply { fields }), "fields=[{name:\"t\",value:\"t\"}] "),
            (read(&target("Sample"), &Sample { value: 1.5, payload: vec![b'b'] }), "value=1.5 payload=\"b\" "),
            (
                read(&target("Summary"), &Summary { count: 1, sum: 1.5, payload_bytes: 2 }),
                "count=1 sum=1.5 payload_bytes=2 ",
            ),
            (read(&target("CountRequest"), &asked), "count=1 interval_ms=2 size=3 code=4 message=\"t\" "),
            (read(&target("Tick"), &tick), "number=1 sent_us=2 payload=\"b\" "),
            (read(&health("HealthCheckRequest"), &HealthCheckRequest { service: text() }), "service=\"t\" "),
            (read(&health("HealthCheckResponse"), &HealthCheckResponse { status: 2 }), "status=2 "),
        ] {
            assert_eq!(found, expected);
        }
    }
}
