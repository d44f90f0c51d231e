//! How a call is written: as gRPC, or as Connect with one of its codecs.

use grpc::Method;
use grpc::connect::Codec;
use http::header::HeaderMap;

/// What the content types of gRPC begin with.
pub(crate) const MEDIA_TYPE: &str = "application/grpc";

/// How a call is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Grpc,
    /// Connect; of a stream or not.
    Connect(Codec, bool),
}

/// How a call is written, and the method of Connect, whose messages may be JSON.
pub(crate) type CallForm = (Form, Option<&'static Method>);

impl Form {
    /// Messages have a prefix each; else the body is the message.
    pub(crate) fn has_prefixes(self) -> bool {
        matches!(self, Form::Grpc | Form::Connect(_, true))
    }

    /// Where the client says how long it waits.
    pub(crate) fn timeout_field(self) -> &'static str {
        match self {
            Form::Grpc => "grpc-timeout",
            Form::Connect(..) => "connect-timeout-ms",
        }
    }

    /// Where the coding of messages is named.
    pub(crate) fn encoding_field(self) -> &'static str {
        match self {
            Form::Grpc => "grpc-encoding",
            Form::Connect(_, true) => "connect-content-encoding",
            Form::Connect(_, false) => "content-encoding",
        }
    }

    /// Whether the client's messages are gzip, and so the answer's.
    pub(crate) fn is_gzip(self, fields: &HeaderMap) -> bool {
        fields.get(self.encoding_field()).is_some_and(|value| value == "gzip")
    }
}
