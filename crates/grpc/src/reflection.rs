//! What a client asks a server's reflection service, and what the answers mean, read and written. The versions
//! of the service have the same messages.

use prost::Message;

use crate::status::{NOT_FOUND, Status};

/// The paths of the method, the newer one first.
pub const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(string, optional, tag = "3")]
    file_by_filename: Option<String>,
    #[prost(string, optional, tag = "4")]
    file_containing_symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    list_services: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Response {
    /// The message that asked, as it came.
    #[prost(bytes = "vec", optional, tag = "2")]
    original: Option<Vec<u8>>,
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<ErrorResponse>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    descriptors: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct ErrorResponse {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question<'a> {
    /// Which services there are.
    Services,
    /// The file that describes this.
    Symbol(&'a str),
    /// A file by its name in imports.
    File(&'a str),
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Full names of services.
    Services(Vec<String>),
    /// Files, possibly with those that they import, each a `FileDescriptorProto`.
    Files(Vec<Vec<u8>>),
    /// The server says no, in its words.
    Refused(String),
}

impl Question<'_> {
    /// The message.
    pub fn encode(self) -> Vec<u8> {
        let mut request = Request::default();
        let (slot, text) = match self {
            Question::Services => (&mut request.list_services, "*"),
            Question::Symbol(name) => (&mut request.file_containing_symbol, name),
            Question::File(name) => (&mut request.file_by_filename, name),
        };
        *slot = Some(text.to_owned());
        request.encode_to_vec()
    }
}

/// A question as a server reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked(Request);

impl Asked {
    /// From the message of a client; the error says what is wrong with it.
    pub fn decode(bytes: &[u8]) -> Result<Asked, String> {
        Request::decode(bytes).map(Asked).map_err(|error| error.to_string())
    }

    /// The question; `None`: it asks for extensions, or nothing.
    pub fn question(&self) -> Option<Question<'_>> {
        let Request { file_by_filename, file_containing_symbol, list_services } = &self.0;
        let services = list_services.as_ref().map(|_| Question::Services);
        let symbol = file_containing_symbol.as_deref().map(Question::Symbol);
        services.or(symbol).or(file_by_filename.as_deref().map(Question::File))
    }
}

impl Answer {
    /// The message that answers the message `original`. Who is refused asked for something that is not found.
    pub fn encode(self, original: &[u8]) -> Vec<u8> {
        let mut response = Response { original: Some(original.to_vec()), ..Response::default() };
        match self {
            Answer::Services(names) => {
                let services = names.into_iter().map(|name| Service { name }).collect();
                response.services = Some(Services { services });
            }
            Answer::Files(descriptors) => response.files = Some(Files { descriptors }),
            Answer::Refused(message) => response.error = Some(ErrorResponse { code: NOT_FOUND as i32, message }),
        }
        response.encode_to_vec()
    }

    /// From the message of a server; the error says what is wrong with it.
    pub fn decode(bytes: &[u8]) -> Result<Answer, String> {
        let response = Response::decode(bytes).map_err(|error| error.to_string())?;
        if let Some(error) = response.error {
            return Ok(Answer::Refused(error.message));
        }
        if let Some(services) = response.services {
            return Ok(Answer::Services(services.services.into_iter().map(|service| service.name).collect()));
        }
        Ok(Answer::Files(response.files.unwrap_or_default().descriptors))
    }
}

/// `google.rpc.Status`, which the trailer `grpc-status-details-bin` has.
#[derive(Clone, PartialEq, Message)]
struct StatusMessage {
    #[prost(uint32, tag = "1")]
    code: u32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(bytes = "vec", repeated, tag = "3")]
    details: Vec<Vec<u8>>,
}

/// The details in that trailer, each a message `google.protobuf.Any`.
pub fn status_details(bytes: &[u8]) -> Vec<Vec<u8>> {
    StatusMessage::decode(bytes).map(|status| status.details).unwrap_or_default()
}

/// That trailer's bytes.
pub fn with_details(status: &Status, details: Vec<Vec<u8>>) -> Vec<u8> {
    StatusMessage { code: status.code, message: status.message.clone(), details }.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_answers_go_both_ways() {
        for question in [Question::Services, Question::Symbol("a.B"), Question::File("a.proto")] {
            assert_eq!(Asked::decode(&question.encode()).unwrap().question(), Some(question));
        }
        assert_eq!(Asked::decode(b"").unwrap().question(), None);
        let file = b"\x0a\x07a.proto".to_vec();
        for answer in [
            Answer::Services(vec!["a.B".into()]),
            Answer::Files(vec![file]),
            Answer::Refused("symbol not found: c".into()),
        ] {
            assert_eq!(Answer::decode(&answer.clone().encode(b"\x3a\x01*")).unwrap(), answer);
        }
    }

    #[test]
    fn details_come_back() {
        let details = vec![b"one".to_vec(), Vec::new()];
        assert_eq!(status_details(&with_details(&Status::new(5, "gone"), details.clone())), details);
    }
}
