//! Readers of smaller things: paths, events, codings, frames, words of a command. Where a second reader of the same
//! format exists, or what was read can be written again, the two are compared.

use bytes::Bytes;
use convert::shell;
use fleet::{Credentials, Invitation};
use grpc::frame::Frames;
use grpc::{Schema, connect, reflection};
use journal::Record;
use script::json_path::{Selector, explain};
use serde_json::Value;
use units::{Bandwidth, size};
use wire::codec::{Coding, ContentDecoder, DecodeLimits, encode};
use wire::event_stream::EventReader;
use wire::{Payload, Segment};

use super::subjects::Subject;

/// Levels of brackets that serde_json reads.
const DEEPEST: usize = 100;
/// The longest message or body that a check makes.
const LONGEST: usize = 1 << 20;

/// All of them.
pub const ALL: &[Subject] = &[
    Subject {
        name: "json-path",
        examples: &[
            "a.b.1\n{\"a\":{\"b\":[1,{\"c\":\"\\u00e9\"}]}}",
            "friends.#(last==\"Murphy\").first\n{\"friends\":[{\"first\":\"D\",\"last\":\"Murphy\"},{\"last\":\"C\"}]}",
            "a.#.b|@reverse|0\n{\"a\":[{\"b\":1e5},{\"b\":null},{}]}",
            "fav\\.movie\n{\"fav.movie\":\"Deer\", \"c*\":[true,false], \"d\":-0.5}",
        ],
        words: &[
            "#", "#(", ")#", "==", "|", "@reverse", "*", "?", "\\", ".", "\n", "{", "}", "[", "]", "\"", "\\u12", "1e",
        ],
        start: || Ok(Box::new(json_path)),
    },
    Subject {
        name: "event-stream",
        examples: &[
            "event: a\ndata: b\ndata: c\nid: 1\n\n: comment\r\ndata:d\r\n\r\n",
            "\u{feff}retry: 100\rdata\r\rdata: \u{e9}\n\nid: \0\n\n",
        ],
        words: &["data:", "event:", "id:", "retry:", ":", "\n", "\r", "\r\n", "\n\n", "\0"],
        start: || Ok(Box::new(event_stream)),
    },
    Subject {
        name: "shell-words",
        examples: &[
            "curl 'http://h/a?b=c' -H \"X: \\\"y\\\"\" --data-raw $'a\\nb\\x41\\u00e9' \\\n  -k",
            "a\\ b \"c d\"'e'f # the rest",
        ],
        words: &["'", "\"", "\\", "$'", "$", "`", "|", ";", "\\x", "\\u{", "\\\n", "#"],
        start: || Ok(Box::new(shell_words)),
    },
    Subject {
        name: "content-coding",
        examples: &["a body of text, a body of text, a body of text", "", "{\"a\":[1,2,3]}"],
        words: &["aaaaaaaaaaaaaaaa", "\0\0\0\0", "\u{1f}\u{8b}"],
        start: || Ok(Box::new(content_coding)),
    },
    Subject {
        name: "grpc-frame",
        examples: &["\0\0\0\0\u{5}hello\0\0\0\0\0", "\u{1}\0\0\0\u{2}ab", "\0\0\0\0\u{1}a\u{2}\0\0\0\u{2}{}"],
        words: &["\0", "\u{1}", "\u{2}", "\0\0\0\0", "\u{7f}"],
        start: || Ok(Box::new(grpc_frame)),
    },
    Subject {
        name: "grpc-messages",
        examples: &["\u{8}\u{1}\u{12}\u{3}abc\u{1a}\u{2}\u{8}\u{7}", "\n\u{5}hello\u{10}\u{1}"],
        words: &["\u{8}", "\u{12}", "\u{1a}", "\u{7f}", "\0"],
        start: || Ok(Box::new(grpc_messages)),
    },
    Subject {
        name: "proto",
        examples: &[
            "syntax = \"proto3\"; package a.b; import \"google/protobuf/timestamp.proto\"; message M { repeated \
             int32 n = 1 [packed = false]; oneof o { string s = 2; M m = 3; } map<string, M> all = 4; reserved 5 to \
             7; enum E { Z = 0; } } service S { rpc F (stream M) returns (M); }",
            "edition = \"2023\"; option features.field_presence = IMPLICIT; message M { int32 a = 1 \
             [features.field_presence = LEGACY_REQUIRED]; extensions 100 to max; } extend M { string x = 100; }",
            "syntax = \"proto2\"; message A { optional group B = 1 { required bytes c = 2 [default = \"\\x00\"]; } }",
        ],
        words: &[
            "message ",
            "enum ",
            "oneof ",
            "repeated ",
            "map<",
            "option ",
            "{",
            "}",
            "=",
            ";",
            "features.",
            "to max",
            "1e9",
        ],
        start: || Ok(Box::new(proto)),
    },
    Subject {
        name: "connect-end",
        examples: &[
            r#"{"error":{"code":"not_found","message":"x","details":[{"type":"a.B","value":"AAA"}]},
            "metadata":{"a":["b"]}}"#,
            r#"{"code":"unavailable","message":"m"}"#,
            "{}",
        ],
        words: &["{", "}", "[", "]", "null", "\"code\":", "\"details\":", "\"metadata\":", "\"value\":\"/w==\""],
        start: || Ok(Box::new(connect_end)),
    },
    Subject {
        name: "journal-record",
        examples: &["\0\u{1}\u{2}\u{3}", "\u{1}\u{5}hello\0", "\u{2}\u{7f}\u{7f}\u{1}"],
        words: &["\0", "\u{1}", "\u{7f}", "\u{10}aaaaaaaaaaaaaaaa"],
        start: || Ok(Box::new(journal_record)),
    },
    Subject {
        name: "invitation",
        examples: &[
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA@127.0.0.1:7777",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA@s3://bucket/prefix",
        ],
        words: &["@", "://", ":", "-_", "=", "[::1]"],
        start: || Ok(Box::new(invitation)),
    },
    Subject {
        name: "amounts",
        examples: &["10mbps", "1.5 GBPS", "64k", "512m", "1g", "100", "60.76mbps"],
        words: &["bps", "k", "m", "g", "e9", "-", ".", "inf", "nan", " "],
        start: || Ok(Box::new(amounts)),
    },
];

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// The first line is a path, the rest a document, which serde_json reads, too.
fn json_path(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let (path, document) = text.split_once('\n').unwrap_or((&text, "{}"));
    let depth = document.bytes().filter(|byte| b"[{".contains(byte)).count();
    let other = serde_json::from_str::<Value>(document);
    // A number beyond f64 is one all the same: to Go, as to us, it is text until somebody reads it.
    let is_certain = depth < DEEPEST && !other.as_ref().is_err_and(|error| error.to_string().contains("out of range"));
    match (explain(document.as_bytes()), &other) {
        (None, Err(error)) if is_certain => return Err(format!("accepts {document:?}; serde_json: {error}")),
        (Some(why), Ok(_)) => return Err(format!("refuses {document:?}, which is JSON: {why}")),
        _ => {}
    }
    let Ok(Some(selector)) = Selector::parse(path) else { return Ok(()) };
    match selector.find(document.as_bytes()) {
        Ok(Some(_)) if other.is_err() && is_certain => Err(format!("finds {path:?} in {document:?}, which is no JSON")),
        Ok(Some(found)) if is_certain && serde_json::from_slice::<Value>(&found).is_err() => {
            Err(format!("{path:?} finds what is no JSON: {:?}", String::from_utf8_lossy(&found)))
        }
        _ => Ok(()),
    }
}

/// However the bytes are cut, the events are the same.
fn event_stream(input: &[u8]) -> Result<(), String> {
    let read = |size: usize| {
        let (mut reader, mut events) = (EventReader::default(), Vec::new());
        for piece in input.chunks(size) {
            reader.feed(piece, |event| events.push(event)).map_err(|error| error.to_string())?;
        }
        Ok::<_, String>((events, reader.last_id().to_owned(), reader.retry_ms()))
    };
    let (whole, bytewise) = (read(usize::MAX)?, read(1)?);
    if whole == bytewise { Ok(()) } else { Err(format!("whole {whole:?}, byte by byte {bytewise:?}")) }
}

/// Words that are quoted again come back.
fn shell_words(input: &[u8]) -> Result<(), String> {
    let Ok(words) = shell::split(&text(input)) else { return Ok(()) };
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    match shell::split(&quoted.join(" ")) {
        Ok(again) if again == words => Ok(()),
        other => Err(format!("{words:?} in quotes reads as {other:?}")),
    }
}

/// What is encoded comes back; what is spoiled is refused or becomes something, within the limit.
fn content_coding(input: &[u8]) -> Result<(), String> {
    let limits = DecodeLimits { bytes: LONGEST as u64, ..DecodeLimits::default() };
    let mut decoder = ContentDecoder::new(limits);
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
        let payload = encode(coding, &Payload::from(Segment::Shared(Bytes::copy_from_slice(input))))
            .map_err(|e| format!("{e:?}"))?;
        let mut encoded = Vec::new();
        payload.read(|piece| encoded.extend_from_slice(piece)).map_err(|error| format!("{error:?}"))?;
        let again = decoder.decode(coding.name(), Bytes::from(encoded.clone()));
        if again.as_ref().ok().map(|bytes| &bytes[..]) != Some(input) {
            return Err(format!("{} comes back as {again:?}", coding.name()));
        }
        // The input chooses the byte that is spoiled, and what is cut off.
        let sum = input.iter().fold(encoded.len(), |sum, byte| sum.wrapping_mul(31) + usize::from(*byte));
        let at = sum % encoded.len();
        encoded[at] ^= 1 << (sum % 8);
        encoded.truncate(encoded.len() - sum / 8 % 4);
        let spoiled = decoder.decode(coding.name(), Bytes::from(encoded));
        if spoiled.is_ok_and(|body| body.len() > LONGEST) {
            return Err(format!("{}: more than the limit", coding.name()));
        }
    }
    Ok(())
}

/// However the bytes are cut, the messages are the same.
fn grpc_frame(input: &[u8]) -> Result<(), String> {
    let read = |size: usize| {
        let (mut frames, mut messages) = (Frames::default(), Vec::new());
        for piece in input.chunks(size) {
            frames.add(piece);
            loop {
                match frames.next_of(2, true, LONGEST) {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(error) => return (messages, Some(error)),
                }
            }
        }
        (messages, None)
    };
    let (whole, bytewise) = (read(usize::MAX), read(1));
    if whole == bytewise { Ok(()) } else { Err(format!("whole {whole:?}, byte by byte {bytewise:?}")) }
}

/// Messages of reflection and of errors' details.
fn grpc_messages(input: &[u8]) -> Result<(), String> {
    if let Ok(asked) = reflection::Asked::decode(input) {
        let _ = asked.question();
    }
    let _ = reflection::Answer::decode(input);
    let _ = reflection::status_details(input);
    let _ = Schema::from_protoset(input);
    Ok(())
}

fn proto(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let read = move |name: &str| (name == "a.proto").then(|| Ok(text.clone()));
    match Schema::compile(&[String::from("a.proto")], read) {
        Err(error) if error.0.is_empty() => Err(String::from("an error without a text")),
        _ => Ok(()),
    }
}

fn connect_end(input: &[u8]) -> Result<(), String> {
    let _ = connect::read_error(input, 2);
    let _ = connect::parse_timeout(input);
    match connect::read_end(input) {
        Ok(outcome) => match connect::read_end(&connect::end(&outcome)) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("cannot read its own {outcome:?}: {error}")),
        },
        Err(_) => Ok(()),
    }
}

fn journal_record(input: &[u8]) -> Result<(), String> {
    let _ = Record::read(input);
    Ok(())
}

fn invitation(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let _ = Credentials::parse(&text);
    let Ok(invitation) = Invitation::parse(&text) else { return Ok(()) };
    match Invitation::parse(&invitation.to_string()) {
        Ok(again) if again == invitation => Ok(()),
        other => Err(format!("{invitation:?} is shown as what reads as {other:?}")),
    }
}

fn amounts(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let _ = size::parse(&text);
    match Bandwidth::parse(&text) {
        Ok(bandwidth) if bandwidth.time_of(2) < bandwidth.time_of(1) => {
            Err(format!("{text:?}: two bytes are faster than one"))
        }
        _ => Ok(()),
    }
}
