//! Readers of the extensions that have no other way out of this crate, for `cargo xtask fuzz`: what brokers, databases
//! and name servers answer, and the addresses and files that a script names.
//!
//! Each function reads one input and says which promise was broken. All extensions have to be there: the feature asks
//! for theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use hmac::Hmac;
use kafka_protocol::records::Compression;
use mysql_common::Row;
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthSwitchRequest, Column, ErrPacket, HandshakePacket};
use mysql_common::proto::codec::PacketCodec;
use mysql_common::proto::{Binary, MyDeserialize, Text};
use mysql_common::row::RowDeserializer;
use mysql_common::value::ServerSide;
use postgres_protocol::message::backend::Message;
use redis_protocol::resp2::decode;
use sha2::{Sha256, Sha512};

use crate::client::dial::Place;
use crate::dns::question::{Question, Reply};
use crate::dotenv::format;
use crate::kafka::{compression, member_message, sasl};
use crate::mqtt::plan;
use crate::redis::{cluster, options, reply};
use crate::sql::common::time::{SqlTime, Zone};
use crate::sql::mysql::{MysqlSource, values as mysql_values};
use crate::sql::postgres::{PostgresSource, login, messages, values};
use crate::sql::sqlite::SqliteSource;
use crate::tcp::arguments;

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// A `.env` file: what is read can be written and read again, and errors name a line of it.
pub fn dotenv(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let lines = text.matches('\n').count() + 1;
    let variables: BTreeMap<String, String> = match format::parse(&text) {
        Ok(variables) => variables.into_iter().collect(),
        Err(why) => {
            let line = why.strip_prefix("line ").and_then(|why| why.split(':').next()?.parse::<usize>().ok());
            return if line.is_some_and(|line| (1..=lines).contains(&line)) { Ok(()) } else { Err(why) };
        }
    };
    let written = format::stringify(&variables);
    match format::parse(&written) {
        Ok(again) if again.iter().cloned().collect::<BTreeMap<_, _>>() == variables => Ok(()),
        other => Err(format!("{variables:?} is written as {written:?}, which reads as {other:?}")),
    }
}

/// A message of a name server, to a question of each type.
pub fn dns(input: &[u8]) -> Result<(), String> {
    for kind in ["A", "AAAA", "CNAME", "MX", "NS", "PTR", "SRV", "TXT"] {
        let question = Question::new("a.test", kind, 0x1234)?;
        let whole = [&[0x12, 0x34], input].concat();
        if question.read(question.bytes()) != Reply::Foreign {
            return Err(String::from("a question is read as an answer"));
        }
        let _ = question.read(&whole);
    }
    let _ = Question::new(&text(input), "A", 1);
    Ok(())
}

/// A time of a database: shown as JSON it reads as the same time.
pub fn sql_time(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let Some(time) = SqlTime::parse(&text, Zone::Utc) else { return Ok(()) };
    let _ = (time.text(), time.millis(), time.nanos(), time.parts());
    let shown = time.json();
    match SqlTime::parse(&shown, Zone::Utc) {
        Some(again) if again.nanos() == time.nanos() => Ok(()),
        // Years before Christ are written with a sign, which no database sends; seconds of an offset are not written.
        None if shown.starts_with('-') => Ok(()),
        Some(again) if (again.nanos() - time.nanos()).abs() < 60e9 => Ok(()),
        other => Err(format!("{text:?} is shown as {shown}, which reads as {other:?}")),
    }
}

/// Names of data sources, of each driver.
pub fn data_source(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let said = [
        MysqlSource::read(&text).err(),
        PostgresSource::read(&text, &|_| None).err(),
        PostgresSource::read(&format!("postgres://{text}"), &|_| None).err(),
        SqliteSource::read(&text).err(),
    ];
    match said.into_iter().flatten().find(String::is_empty) {
        Some(_) => Err(String::from("an error without a text")),
        None => Ok(()),
    }
}

/// Messages of a PostgreSQL server, until one cannot be read; values of columns of every type.
pub fn postgres(input: &[u8]) -> Result<(), String> {
    let mut received = BytesMut::from(input);
    let mut before = received.len() + 1;
    while received.len() < before {
        before = received.len();
        match Message::parse(&mut received) {
            Ok(Some(Message::ErrorResponse(body))) => {
                let _ = messages::told(&body);
            }
            Ok(Some(Message::AuthenticationSaslContinue(body))) => {
                let _ = login::check_iterations(body.data());
            }
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => break,
        }
    }
    for kind in [16, 17, 18, 20, 21, 23, 25, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1266] {
        let _ = values::write(&values::read(kind, input));
    }
    Ok(())
}

/// Packets of a MySQL server as they come, and the input as one of each kind that a login and an answer have.
pub fn mysql(input: &[u8]) -> Result<(), String> {
    let (mut received, mut packet) = (BytesMut::from(input), Vec::new());
    let mut codec = PacketCodec::default();
    while codec.decode(&mut received, &mut packet).is_ok_and(|is_whole| is_whole) {
        packet.clear();
    }
    if let Ok(greeting) = HandshakePacket::deserialize((), &mut ParseBuf(input)) {
        let _ = (greeting.nonce(), greeting.capabilities(), greeting.auth_plugin().map(|plugin| plugin.into_owned()));
    }
    if let Ok(switch) = AuthSwitchRequest::deserialize((), &mut ParseBuf(input)) {
        let _ = (switch.auth_plugin().init(), switch.plugin_data().to_vec());
    }
    let _ = ErrPacket::deserialize(CapabilityFlags::all(), &mut ParseBuf(input));
    let Ok(column) = Column::deserialize((), &mut ParseBuf(input)) else { return Ok(()) };
    let columns: Arc<[Column]> = Arc::from([column.clone()]);
    let rows = [
        RowDeserializer::<(), Text>::deserialize(Arc::clone(&columns), &mut ParseBuf(input))
            .map(|row| row.into_inner()),
        RowDeserializer::<ServerSide, Binary>::deserialize(columns, &mut ParseBuf(input)).map(|row| row.into_inner()),
    ];
    for value in rows.into_iter().flatten().flat_map(Row::unwrap) {
        let _ = mysql_values::read(&column, value, true);
    }
    Ok(())
}

/// A reply of a Redis server, a line of slots, a redirection, and a URL.
pub fn redis(input: &[u8]) -> Result<(), String> {
    let told_by = Place { host: String::from("h"), port: 1 };
    if let Ok(Some((frame, length))) = decode::decode(input) {
        if length > input.len() {
            return Err(format!("a reply of {length} bytes in {}", input.len()));
        }
        let _ = (reply::refusal(&frame), cluster::read_range(&frame, &told_by));
    }
    let text = text(input);
    let _ = cluster::redirect(&text, &told_by);
    match options::from_url(&text) {
        Err(why) if why.is_empty() => Err(String::from("an error without a text")),
        _ => Ok(()),
    }
}

/// What members of a group of Kafka's tell each other, a challenge of SCRAM, and packed records.
pub fn kafka(input: &[u8]) -> Result<(), String> {
    let _ = member_message::read_assignment(Bytes::copy_from_slice(input));
    let _ = member_message::read_subscription(Bytes::copy_from_slice(input));
    // Many iterations are allowed, and take their time.
    if !input.windows(5).any(|part| part[..2] == *b"i=" && part[2..].iter().all(u8::is_ascii_digit)) {
        let _ = sasl::prove::<Hmac<Sha256>, Sha256>(b"pencil", "n=user,r=r", "r", input);
        let _ = sasl::prove::<Hmac<Sha512>, Sha512>(b"pencil", "n=user,r=r", "r", input);
    }
    for how in [Compression::None, Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        let mut packed = BytesMut::new();
        compression::pack(input, &mut packed, how).map_err(|error| error.to_string())?;
        let unpacked = compression::unpack(&packed, how).map_err(|error| format!("{how:?}: {error}"))?;
        if unpacked != input {
            return Err(format!("{how:?} gives something else back"));
        }
        let _ = compression::unpack(input, how);
    }
    Ok(())
}

/// The address of a broker of MQTT: what is shown of it has no password.
pub fn broker(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    match plan::broker(&text) {
        Ok(broker) => {
            let authority = broker.shown.split("://").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next());
            let is_bare = authority.is_none_or(|authority| !authority.contains('@'));
            if is_bare { Ok(()) } else { Err(format!("{text:?} is shown as {}", broker.shown)) }
        }
        Err(why) if why.is_empty() => Err(String::from("an error without a text")),
        _ => Ok(()),
    }
}

/// Text that stands for bytes, of `k6/x/tcp`.
pub fn encoded(input: &[u8]) -> Result<(), String> {
    let read = |encoding: &str| arguments::decoded(input.to_vec(), encoding);
    if let (Ok(bytes), true) = (read("hex"), input.is_ascii())
        && bytes.len() * 2 != input.len()
    {
        return Err(format!("{} digits are {} bytes", input.len(), bytes.len()));
    }
    for encoding in ["base64", "base64url", "utf8"] {
        let _ = read(encoding);
    }
    Ok(())
}
