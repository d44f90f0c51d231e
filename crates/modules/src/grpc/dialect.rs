//! How the calls of a client are written: as gRPC, or as Connect, which needs no HTTP/2 and no trailers.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use grpc::connect::{self, Codec};
use grpc::frame::{self, PREFIX};
use grpc::status::{self, Status};
use grpc::{Method, Schema, json, metadata};

/// The protocol of a client's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallDialect {
    /// gRPC.
    #[default]
    Grpc,
    /// Connect, with messages written so.
    Connect(Codec),
}

/// Fields of a head.
pub type HeadFields = Vec<(String, Vec<u8>)>;

impl CallDialect {
    /// The fields of a call's head that are the protocol's own.
    pub fn fields(self, is_stream: bool, time: Option<Duration>) -> HeadFields {
        let mut fields = Vec::with_capacity(6);
        let mut add = |name: &str, value: &str| fields.push((name.to_owned(), value.as_bytes().to_vec()));
        match self {
            CallDialect::Grpc => {
                add("content-type", "application/grpc");
                add("te", "trailers");
                add("grpc-accept-encoding", "gzip");
                time.inspect(|time| add("grpc-timeout", &metadata::timeout(*time)));
            }
            CallDialect::Connect(codec) => {
                add("content-type", codec.content_type(is_stream));
                add("connect-protocol-version", "1");
                add(if is_stream { "connect-accept-encoding" } else { "accept-encoding" }, "gzip");
                // Ten digits at most.
                time.inspect(|time| add("connect-timeout-ms", &time.as_millis().min(9_999_999_999).to_string()));
            }
        }
        fields
    }

    /// A message as it goes out. `message` has room for the prefix at its start.
    pub fn written(self, schema: &Schema, method: &Method, mut message: Vec<u8>) -> Result<Bytes, Status> {
        let codec = match self {
            CallDialect::Grpc => Codec::Proto,
            CallDialect::Connect(codec) => codec,
        };
        let is_enveloped = self == CallDialect::Grpc || method.is_stream();
        match codec {
            Codec::Proto if is_enveloped => {
                frame::finish(&mut message, 0);
                Ok(Bytes::from(message))
            }
            Codec::Proto => Ok(Bytes::from(message).slice(PREFIX..)),
            Codec::Json => {
                let json = json::to_json(schema, method.input, &message[PREFIX..]);
                let json =
                    json.map_err(|why| Status::new(status::INTERNAL, format!("cannot be written as JSON: {why}")))?;
                Ok(Bytes::from(if is_enveloped { connect::enveloped(0, &json) } else { json }))
            }
        }
    }

    /// The wire bytes of a message that came. `is_raw`: nobody checks them.
    pub fn read(self, schema: &Schema, method: &Method, message: Vec<u8>, is_raw: bool) -> Result<Vec<u8>, Status> {
        let unfit = |why: String| {
            Status::new(status::INTERNAL, format!("grpc: failed to unmarshal the received message: {why}"))
        };
        match self {
            CallDialect::Connect(Codec::Json) => json::from_json(schema, method.output, &message).map_err(unfit),
            _ if is_raw => Ok(message),
            _ => {
                let checked = grpc::decode::check(schema, schema.plan(method.output), &message);
                checked.map(|()| message).map_err(|why| unfit(why.to_string()))
            }
        }
    }
}

/// Fields as requests of HTTP/1.1 have them: values are text.
pub fn as_text(fields: &HeadFields) -> Rc<[(String, String)]> {
    fields.iter().map(|(name, value)| (name.clone(), String::from_utf8_lossy(value).into_owned())).collect()
}
