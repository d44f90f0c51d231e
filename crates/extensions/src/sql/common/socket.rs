//! The bytes of a connection to a database server: what came and is not read yet, what is to be sent.

use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use script::Vu;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wire::client::{ByteStream, StreamTls, StreamTraffic, TlsConfigs};

use super::call::SqlFailure;
use crate::client::dial::{self, Place};

/// Room for what comes next.
const ROOM: usize = 8 << 10;

/// A connection's bytes.
pub struct Socket {
    stream: ByteStream,
    traffic: Rc<StreamTraffic>,
    /// Not read yet.
    pub received: BytesMut,
    /// Not sent yet.
    pub sending: BytesMut,
}

impl Socket {
    /// Connects in the clear.
    pub async fn open(vu: &Vu, place: &Place, timeout: Duration) -> Result<Socket, SqlFailure> {
        let stream = dial::open(vu, place, None, timeout).await.map_err(SqlFailure::lost)?;
        let traffic = stream.traffic();
        Ok(Socket { stream, traffic, received: BytesMut::new(), sending: BytesMut::new() })
    }

    /// Goes on encrypted, after the server has agreed.
    pub async fn encrypt(
        self,
        vu: &Vu,
        host: &str,
        configs: &TlsConfigs,
        timeout: Duration,
    ) -> Result<Socket, SqlFailure> {
        let tls = StreamTls { configs: Some(configs), server_name: None };
        let encrypted = vu.client().encrypt(self.stream, host, &tls, Some(Instant::now() + timeout)).await;
        let stream = encrypted.map_err(|failure| SqlFailure::lost(failure.message.as_str()))?;
        let traffic = stream.traffic();
        Ok(Socket { stream, traffic, received: self.received, sending: self.sending })
    }

    /// Sends what is to be sent.
    pub async fn send(&mut self) -> Result<(), SqlFailure> {
        self.stream.write_all_buf(&mut self.sending).await.map_err(|error| SqlFailure::lost(error.to_string()))?;
        self.stream.flush().await.map_err(|error| SqlFailure::lost(error.to_string()))
    }

    /// Waits for more.
    pub async fn receive(&mut self) -> Result<(), SqlFailure> {
        self.received.reserve(ROOM);
        match self.stream.read_buf(&mut self.received).await {
            Ok(0) => Err(SqlFailure::lost("the server closed the connection")),
            Ok(_) => Ok(()),
            Err(error) => Err(SqlFailure::lost(error.to_string())),
        }
    }

    /// Counts what went over it since the last time.
    pub fn count(&self, vu: &Vu) {
        dial::count(vu, &self.traffic);
    }

    /// Whether nothing came since the last call, not even the end.
    pub fn is_quiet(&mut self) -> bool {
        self.received.is_empty() && self.stream.is_quiet()
    }
}
