//! Calls by gRPC over real sockets: messages both ways, statuses, metadata, deadlines, health and reflection.

#![allow(clippy::unwrap_used)]

mod h2_client;

use std::time::{Duration, Instant};

use bytes::Bytes;
use grpc::frame::{self, Frames};
use grpc::metadata::{decode_binary, encode_binary};
use grpc::reflection::{Answer as Reflected, PATHS, Question, status_details};
use grpc::status::Status;
use h2::Reason;
use h2_client::{Answer, Client, noise, plain, take, test, whole};
use http::{HeaderMap, Request};
use prost::Message as _;
use prost_reflect::prost_types::FileDescriptorProto;
use prost_reflect::{DescriptorPool, DynamicMessage, Value};

fn call(path: &str, fields: &[(&str, &str)]) -> Request<()> {
    let mut request = Request::post(format!("http://localhost{path}"));
    for (name, value) in [("content-type", "application/grpc+proto"), ("te", "trailers")].iter().chain(fields) {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap()
}

fn target(method: &str) -> String {
    format!("/onrush.test.v1.Target/{method}")
}

fn framed(message: &[u8]) -> Vec<u8> {
    let mut out = vec![0; frame::PREFIX];
    out.extend_from_slice(message);
    frame::finish(&mut out, 0);
    out
}

/// A message of the target's own file, its fields by name.
fn message(name: &str, fields: &[(&str, Value)]) -> Vec<u8> {
    let mut message = empty(name);
    for (name, value) in fields {
        message.set_field_by_name(name, value.clone());
    }
    prost::Message::encode_to_vec(&message)
}

fn empty(name: &str) -> DynamicMessage {
    let read = |name: &str| (name == "target.proto").then(|| Ok(include_str!("../src/grpc/target.proto").to_owned()));
    let pool = grpc::schema::compile(&["target.proto"], read).unwrap();
    DynamicMessage::new(pool.get_message_by_name(&format!("onrush.test.v1.{name}")).unwrap())
}

/// A field of a message, in words.
fn field(name: &str, bytes: &[u8], field: &str) -> String {
    let mut read = empty(name);
    prost::Message::merge(&mut read, bytes).unwrap();
    read.get_field_by_name(field).unwrap().to_string()
}

/// Sends these bytes as the request's body; the whole answer.
async fn ask(client: &Client, path: &str, fields: &[(&str, &str)], body: Vec<u8>) -> Answer {
    let (response, mut stream) = client.begin(call(path, fields), false).await;
    stream.send_data(body.into(), true).unwrap();
    whole(response).await.unwrap()
}

async fn ask_one(client: &Client, method: &str, message: &[u8]) -> Answer {
    ask(client, &target(method), &[], framed(message)).await
}

fn status_of(fields: &HeaderMap) -> Option<Status> {
    let value = |name: &str| fields.get(name).map(http::HeaderValue::as_bytes);
    Status::from_fields(value("grpc-status"), value("grpc-message"))
}

/// The messages of an answer that ends well.
fn messages(answer: &Answer) -> Vec<Vec<u8>> {
    assert_eq!(status_of(answer.trailers.as_ref().unwrap()), Some(Status::default()));
    let is_gzip = answer.headers.get("grpc-encoding").is_some();
    let mut frames = Frames::default();
    frames.add(&answer.body);
    let messages = std::iter::from_fn(|| frames.next(is_gzip, 1 << 30).unwrap()).collect();
    assert!(frames.is_empty());
    messages
}

/// The status of an answer that has nothing but its head.
fn alone(answer: &Answer) -> Status {
    assert_eq!((answer.status, answer.body.len(), &answer.trailers), (200, 0, &None));
    assert_eq!(answer.headers["content-type"], "application/grpc+proto");
    status_of(&answer.headers).unwrap()
}

#[test]
fn a_message_comes_back_as_it_went() {
    test(plain(), async |client, server| {
        for size in [0, 1, 100, 1_000_000] {
            let sent = noise(size);
            let answer = ask_one(&client, "Echo", &sent).await;
            assert_eq!(
                (answer.status, &answer.headers["content-type"]),
                (200, &"application/grpc+proto".parse().unwrap())
            );
            assert!(messages(&answer) == [sent], "{size}");
        }
        assert_eq!(server.stats()["routes"]["/onrush.test.v1.Target/{method}"], 4);
    });
}

#[test]
fn answers_are_compressed_as_requests_are() {
    test(plain(), async |client, _| {
        let sent = vec![7; 10_000];
        let body = [frame::gzip(&sent), framed(&[])].concat();
        let answer = ask(&client, &target("Chat"), &[("grpc-encoding", "gzip")], body).await;
        assert_eq!(answer.headers["grpc-encoding"], "gzip");
        assert!(answer.body.len() < 200);
        assert_eq!(messages(&answer), [sent, Vec::new()]);
    });
}

#[test]
fn a_call_ends_with_the_status_of_choice() {
    test(plain(), async |client, _| {
        let asked = |code: u32| {
            message("FailRequest", &[("code", Value::U32(code)), ("message", Value::String("nü 100%\n".to_owned()))])
        };
        for code in [1, 5, 16, 17, 4_000_000_000] {
            let failed = alone(&ask_one(&client, "Fail", &asked(code)).await);
            assert_eq!(failed, Status::new(code, "nü 100%\n"));
        }
        assert_eq!(messages(&ask_one(&client, "Fail", &asked(0)).await), [b""]);
        let detail = b"\x0a\x01u\x12\x01v";
        let with_details = [asked(9), [b"\x1a\x06", &detail[..]].concat()].concat();
        let answer = ask_one(&client, "Fail", &with_details).await;
        let details = status_details(&decode_binary(answer.headers["grpc-status-details-bin"].as_bytes()));
        assert_eq!((alone(&answer).code, details), (9, vec![detail.to_vec()]));
    });
}

#[test]
fn metadata_comes_back_in_head_and_trailers() {
    test(plain(), async |client, _| {
        let binary = encode_binary(&[0, 1, 255]);
        let fields = [("x-a", "1"), ("x-a", "2"), ("x-b-bin", &*binary), ("user-agent", "test")];
        let answer = ask(&client, &target("Metadata"), &fields, framed(&[])).await;
        for fields in [&answer.headers, answer.trailers.as_ref().unwrap()] {
            assert_eq!(fields.get_all("x-a").iter().collect::<Vec<_>>(), ["1", "2"]);
            assert_eq!(decode_binary(fields["x-b-bin"].as_bytes()), [0, 1, 255]);
            assert_eq!(fields.get("user-agent"), None);
        }
        let list = field("MetadataReply", &messages(&answer)[0], "fields");
        let told = "[{name:\"x-a\",value:\"1\"},{name:\"x-a\",value:\"2\"},{name:\"x-b-bin\",value:\"AAH/\"}]";
        assert_eq!(list, told);
    });
}

#[test]
fn streams_go_both_ways_at_once() {
    test(plain(), async |client, _| {
        let (response, mut stream) = client.begin(call(&target("Chat"), &[]), false).await;
        // The head comes before any message.
        let (_, mut answers) = response.await.unwrap().into_parts();
        let mut frames = Frames::default();
        for round in 0..20_u8 {
            stream.send_data(framed(&[round; 10]).into(), false).unwrap();
            let answer = loop {
                if let Some(answer) = frames.next(false, 100).unwrap() {
                    break answer;
                }
                let data = answers.data().await.unwrap().unwrap();
                frames.add(&take(&mut answers, data));
            };
            assert_eq!(answer, [round; 10]);
        }
        stream.send_data(Bytes::new(), true).unwrap();
        assert!(answers.data().await.is_none());
        assert_eq!(status_of(&answers.trailers().await.unwrap().unwrap()), Some(Status::default()));
    });
}

#[test]
fn what_is_sent_is_added_up_and_what_is_counted_is_sent() {
    test(plain(), async |client, _| {
        let sample = |value: f64| {
            message("Sample", &[("value", Value::F64(value)), ("payload", Value::Bytes(vec![1; 10].into()))])
        };
        let body = [framed(&sample(1.5)), framed(&sample(2.0))].concat();
        let answer = ask(&client, &target("Collect"), &[], body).await;
        let summary = &messages(&answer)[0];
        let told = ["count", "sum", "payload_bytes"].map(|name| field("Summary", summary, name));
        assert_eq!(told, ["2", "3.5", "20"]);

        let fields = [("count", Value::U32(1000)), ("size", Value::U32(100))];
        let ticks = messages(&ask_one(&client, "Count", &message("CountRequest", &fields)).await);
        let numbers: Vec<String> = ticks.iter().map(|tick| field("Tick", tick, "number")).collect();
        assert_eq!(numbers, (0..1000).map(|number: u32| number.to_string()).collect::<Vec<_>>());
        assert!(ticks.iter().all(|tick| tick.ends_with(&[b'x'; 100])));
    });
}

#[test]
fn a_stream_keeps_its_interval_and_may_fail_after_messages() {
    test(plain(), async |client, _| {
        let fields = [("count", 4), ("interval_ms", 20), ("code", 8)].map(|(name, number)| (name, Value::U32(number)));
        let began = Instant::now();
        let answer = ask_one(&client, "Count", &message("CountRequest", &fields)).await;
        assert!(began.elapsed() >= Duration::from_millis(60));
        assert_eq!(status_of(&answer.trailers.unwrap()), Some(Status::new(8, "")));
        let mut frames = Frames::default();
        frames.add(&answer.body);
        let sent: Vec<Vec<u8>> = std::iter::from_fn(|| frames.next(false, 100).unwrap()).collect();
        let sent: Vec<i64> = sent.iter().map(|tick| field("Tick", tick, "sent_us").parse().unwrap()).collect();
        assert!(sent.len() == 4 && sent.windows(2).all(|pair| pair[1] - pair[0] > 10_000), "{sent:?}");
    });
}

#[test]
fn a_call_ends_at_its_deadline() {
    test(plain(), async |client, _| {
        let asked = framed(&message("DelayRequest", &[("milliseconds", Value::U32(15_000))]));
        let began = Instant::now();
        let answer = ask(&client, &target("Delay"), &[("grpc-timeout", "50m")], asked).await;
        assert!((50..10_000).contains(&began.elapsed().as_millis()));
        assert_eq!(alone(&answer), Status::new(4, "the call's time is over (grpc-timeout)"));
        let asked = message("DelayRequest", &[("milliseconds", Value::U32(20))]);
        let held: f64 =
            field("DelayReply", &messages(&ask_one(&client, "Delay", &asked).await)[0], "held_ms").parse().unwrap();
        assert!((20.0..10_000.0).contains(&held), "{held}");
    });
}

#[test]
fn what_cannot_be_answered_is_refused_with_its_reason() {
    test(plain(), async |client, _| {
        let long = [&[0][..], &5_000_000_u32.to_be_bytes()].concat();
        let wait = message("DelayRequest", &[("milliseconds", Value::U32(60_001))]);
        let echo = target("Echo");
        for (path, fields, body, code, text) in [
            ("/a.B/C", &[][..], framed(b""), 12, "unknown method \"/a.B/C\""),
            (&target("Ekho"), &[], framed(b""), 12, "unknown method \"/onrush.test.v1.Target/Ekho\""),
            (&echo, &[("grpc-encoding", "br")], framed(b""), 12, "grpc-encoding is \"br\", expected gzip or identity"),
            (
                &echo,
                &[("grpc-timeout", "1s")],
                framed(b""),
                13,
                "grpc-timeout is \"1s\", expected at most eight digits and one of HMSmun",
            ),
            (&echo, &[], Vec::new(), 13, "the request has no message, expected one"),
            (&echo, &[], framed(b"").repeat(2), 13, "the request has several messages, expected one"),
            (&echo, &[], vec![0, 0, 0, 0, 9, 1], 13, "the request ends within a message"),
            (&echo, &[], vec![9, 0, 0, 0, 0], 13, "the flags of a message are 9, expected 0 or 1"),
            (
                &echo,
                &[],
                frame::gzip(b"x"),
                13,
                "a message is marked as compressed, but it is no gzip or grpc-encoding does not say so",
            ),
            (&echo, &[], long, 8, "a message is 5000000 bytes long, expected at most 4194304"),
            (&target("Delay"), &[], framed(&wait), 3, "milliseconds is 60001, expected a number from 0 to 60000"),
        ] {
            assert_eq!(alone(&ask(&client, path, fields, body).await), Status::new(code, text));
        }
        let unread = alone(&ask_one(&client, "Delay", &[0xff]).await);
        assert!(unread.code == 13 && unread.message.starts_with("the message cannot be read: "), "{unread:?}");
        let plain = client.ask("POST", &echo, b"x").await;
        assert_eq!(plain.status, 415);
        let detail = "this path is a method. The content type is \"\", expected application/grpc over HTTP/2, or \
                      Connect's: application/proto or application/json";
        assert_eq!(plain.json()["detail"], detail);
    });
}

/// The number in a health answer.
async fn health(client: &Client, method: &str, service: &str) -> Answer {
    let asked = [&[0x0a, service.len() as u8], service.as_bytes()].concat();
    ask(client, &format!("/grpc.health.v1.Health/{method}"), &[], framed(&asked)).await
}

#[test]
fn health_is_serving_until_the_server_stops() {
    test(plain(), async |client, server| {
        for service in ["", "onrush.test.v1.Target", "grpc.health.v1.Health"] {
            assert_eq!(messages(&health(&client, "Check", service).await), [[8, 1]], "{service}");
        }
        assert_eq!(alone(&health(&client, "Check", "a.B").await), Status::new(5, "unknown service \"a.B\""));
        let (response, mut unknown) = client.begin(call("/grpc.health.v1.Health/Watch", &[]), false).await;
        unknown.send_data(framed(b"\x0a\x03a.B").into(), true).unwrap();
        let mut answers = response.await.unwrap().into_body();
        assert_eq!(answers.data().await.unwrap().unwrap(), framed(&[8, 3]));
        unknown.send_reset(Reason::CANCEL);
        let stopping = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            server.stop(Duration::from_secs(10));
        });
        assert_eq!(messages(&health(&client, "Watch", "").await), [[8, 1], [8, 2]]);
        drop(client);
        stopping.join().unwrap();
    });
}

/// What the server answers to one question by reflection.
async fn reflected(client: &Client, path: &str, question: Question<'_>) -> Reflected {
    Reflected::decode(&messages(&ask(client, path, &[], framed(&question.encode())).await)[0]).unwrap()
}

#[test]
fn reflection_describes_every_method_and_each_is_answered() {
    test(plain(), async |client, _| {
        for path in PATHS {
            let Reflected::Services(names) = reflected(&client, path, Question::Services).await else {
                panic!("{path}")
            };
            assert_eq!(names.len(), 4, "{names:?}");
            for name in &names {
                let files = match reflected(&client, path, Question::Symbol(name)).await {
                    Reflected::Files(files) => files,
                    other => panic!("{name}: {other:?}"),
                };
                let mut pool = DescriptorPool::new();
                let files = files.iter().map(|bytes| FileDescriptorProto::decode(bytes.as_slice()).unwrap());
                pool.add_file_descriptor_protos(files).unwrap();
                for method in pool.get_service_by_name(name).unwrap().methods() {
                    let path = format!("/{name}/{}", method.name());
                    let answer = ask(&client, &path, &[("grpc-timeout", "100m")], framed(b"")).await;
                    let status = status_of(&answer.headers).or(answer.trailers.as_ref().and_then(status_of)).unwrap();
                    assert!(matches!(status.code, 0 | 4), "{path}: {status:?}");
                }
            }
            let refused = |text: &str| Reflected::Refused(text.to_owned());
            assert_eq!(reflected(&client, path, Question::Symbol("a.B")).await, refused("symbol not found: a.B"));
            assert_eq!(reflected(&client, path, Question::File("a.proto")).await, refused("file not found: a.proto"));
            let found = reflected(&client, path, Question::Symbol("onrush.test.v1.Target.Echo")).await;
            assert_eq!(found, reflected(&client, path, Question::File("onrush/test/v1/target.proto")).await);
        }
    });
}
