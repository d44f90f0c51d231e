//! What a client asks a server's reflection service, and what the answers mean. Both versions of the service have the
//! same messages.

use prost::Message;
use prost_types::FileDescriptorProto;

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
    /// Files, possibly with those that they import.
    Files(Vec<FileDescriptorProto>),
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

impl Answer {
    /// From the message of a server; the error says what is wrong with it.
    pub fn decode(bytes: &[u8]) -> Result<Answer, String> {
        let response = Response::decode(bytes).map_err(|error| error.to_string())?;
        if let Some(error) = response.error {
            return Ok(Answer::Refused(error.message));
        }
        if let Some(services) = response.services {
            return Ok(Answer::Services(services.services.into_iter().map(|service| service.name).collect()));
        }
        let files = response.files.unwrap_or_default().descriptors;
        let files = files.iter().map(|bytes| FileDescriptorProto::decode(&**bytes).map_err(|error| error.to_string()));
        Ok(Answer::Files(files.collect::<Result<_, _>>()?))
    }
}

/// `google.rpc.Status`, which the trailer `grpc-status-details-bin` has: its details, each a type URL and bytes.
pub fn status_details(bytes: &[u8]) -> Vec<Vec<u8>> {
    #[derive(Clone, PartialEq, Message)]
    struct StatusMessage {
        #[prost(bytes = "vec", repeated, tag = "3")]
        details: Vec<Vec<u8>>,
    }
    StatusMessage::decode(bytes).map(|status| status.details).unwrap_or_default()
}
