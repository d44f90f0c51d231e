//! A question over the network: one datagram, and a stream where the answer did not fit into one.
//!
//! A datagram is not sent again when nothing comes back: what a network or a server loses is to be seen.

use std::time::Duration;

use script::Vu;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};
use wire::client::ByteStream;

use super::question::{Question, Reply};
use crate::client::dial::{self, Place};

/// For an answer, over a stream included.
const PATIENCE: Duration = Duration::from_secs(2);
/// For a datagram: without EDNS a server sends 512 bytes at most.
const ROOM: usize = 4096;

/// Why there is no answer.
#[derive(Debug)]
pub enum Unresolved {
    /// The call is wrong: nothing was sent.
    Unasked(String),
    /// Nothing came that could be read.
    Unanswered(String),
    /// The server answered with this code.
    Refused(String),
}

impl Unresolved {
    /// For people.
    pub fn text(&self) -> String {
        match self {
            Unresolved::Unasked(why) | Unresolved::Unanswered(why) => why.clone(),
            Unresolved::Refused(code) => {
                let meaning = match code.as_str() {
                    "NXDOMAIN" => ": there is no such name",
                    "SERVFAIL" => ": it failed to find the answer",
                    "REFUSED" => ": it does not answer this to us",
                    "FORMERR" => ": it could not read the question",
                    "NOTIMP" => ": it does not know this kind of question",
                    _ => "",
                };
                format!("the name server answered {code}{meaning}")
            }
        }
    }
}

/// The data of the records that answer a question.
pub async fn ask(vu: &Vu, server: &Place, question: &Question) -> Result<Vec<String>, Unresolved> {
    let end = Instant::now() + PATIENCE;
    let answered = timeout_at(end, async {
        match over_datagrams(vu, server, question).await? {
            Reply::Truncated => over_stream(vu, server, question, end).await,
            reply => Ok(reply),
        }
    });
    let silent = || Err(format!("no answer within {} s", PATIENCE.as_secs()));
    match answered.await.unwrap_or_else(|_| silent()).map_err(Unresolved::Unanswered)? {
        Reply::Records(records) => Ok(records),
        Reply::Refused(code) => Err(Unresolved::Refused(code)),
        Reply::Malformed(why) => Err(Unresolved::Unanswered(format!("the answer cannot be read: {why}"))),
        Reply::Truncated => Err(Unresolved::Unanswered(String::from("the answer is truncated over TCP as well"))),
        Reply::Foreign => Err(Unresolved::Unanswered(String::from("the answer is one to another question"))),
    }
}

async fn over_datagrams(vu: &Vu, server: &Place, question: &Question) -> Result<Reply, String> {
    let opened = vu.client().open_datagrams(&server.host, server.port).await;
    let socket = opened.map_err(|failure| failure.message)?;
    let failed = |step: &str, error: std::io::Error| format!("{step} udp {}: {error}", socket.peer());
    socket.send(question.bytes()).await.map_err(|error| failed("write", error))?;
    vu.count_data(question.bytes().len() as u64, 0);
    let mut room = vec![0; ROOM];
    loop {
        let length = socket.receive(&mut room).await.map_err(|error| failed("read", error))?;
        vu.count_data(0, length as u64);
        match question.read(&room[..length]) {
            Reply::Foreign => {}
            reply => return Ok(reply),
        }
    }
}

async fn over_stream(vu: &Vu, server: &Place, question: &Question, end: Instant) -> Result<Reply, String> {
    let left = end.saturating_duration_since(Instant::now());
    let mut stream = dial::open(vu, server, None, left).await?;
    let traffic = stream.traffic();
    let reply = exchange(&mut stream, question).await;
    dial::count(vu, &traffic);
    let reply = reply.map_err(|error| format!("tcp {}:{}: {error}", server.host, server.port))?;
    Ok(question.read(&reply))
}

/// Messages on a stream come after their length (RFC 1035, 4.2.2).
async fn exchange(stream: &mut ByteStream, question: &Question) -> std::io::Result<Vec<u8>> {
    let bytes = question.bytes();
    let length = u16::try_from(bytes.len()).map_err(std::io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), bytes].concat()).await?;
    stream.flush().await?;
    let mut reply = vec![0; stream.read_u16().await?.into()];
    stream.read_exact(&mut reply).await?;
    Ok(reply)
}
