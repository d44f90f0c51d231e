//! Packets over a socket: what a command sends, what comes back, errors of the server.

use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{CommonOkPacket, ErrPacket, OkPacket, OkPacketDeserializer, OkPacketKind, OldEofPacket};
use mysql_common::proto::codec::PacketCodec;
use mysql_common::proto::{MyDeserialize, MySerialize};
use script::Vu;

use super::super::common::call::SqlFailure;
use super::super::common::socket::Socket;
use super::source::MysqlSource;

/// First byte of a packet that tells an error.
pub const ERR: u8 = 0xff;
/// First byte of a packet that ends a list, where the packet is short.
const EOF: u8 = 0xfe;
/// The largest packet with that first byte which ends a list.
const LONGEST_EOF: usize = 8;

/// A connection's packets.
pub struct Packets {
    socket: Socket,
    codec: PacketCodec,
    /// What both sides can do.
    pub capabilities: CapabilityFlags,
    /// The last one that came.
    packet: Vec<u8>,
}

impl Packets {
    /// Of a socket that was just opened.
    pub async fn open(vu: &Vu, source: &MysqlSource) -> Result<Packets, SqlFailure> {
        let socket = Socket::open(vu, &source.place, source.patience).await?;
        let codec = PacketCodec::default();
        Ok(Packets { socket, codec, capabilities: CapabilityFlags::empty(), packet: Vec::new() })
    }

    /// Goes on encrypted.
    pub async fn encrypt(self, vu: &Vu, source: &MysqlSource) -> Result<Packets, SqlFailure> {
        let configs = source.configs(vu).map_err(SqlFailure::lost)?;
        let Packets { socket, codec, capabilities, packet } = self;
        let socket = socket.encrypt(vu, &source.place.host, configs, source.patience).await?;
        Ok(Packets { socket, codec, capabilities, packet })
    }

    /// Sends a packet within an exchange.
    pub async fn send(&mut self, content: &[u8]) -> Result<(), SqlFailure> {
        self.put(content)?;
        self.socket.send().await
    }

    /// Sends the packet that begins an exchange.
    pub async fn command(&mut self, number: u8, content: &[u8]) -> Result<(), SqlFailure> {
        self.codec.reset_seq_id();
        self.send(&[&[number], content].concat()).await
    }

    /// The same for a packet that the library has written whole.
    pub async fn request(&mut self, packet: &impl MySerialize) -> Result<(), SqlFailure> {
        let mut content = Vec::new();
        packet.serialize(&mut content);
        self.codec.reset_seq_id();
        self.send(&content).await
    }

    fn put(&mut self, mut content: &[u8]) -> Result<(), SqlFailure> {
        let put = self.codec.encode(&mut content, &mut self.socket.sending);
        put.map_err(|error| SqlFailure::lost(format!("the statement cannot be sent: {error}")))
    }

    /// Waits for a packet. The error also stands for one of the server.
    pub async fn next(&mut self) -> Result<(), SqlFailure> {
        self.packet.clear();
        while !self.codec.decode(&mut self.socket.received, &mut self.packet).map_err(broken)? {
            self.socket.receive().await?;
        }
        if self.packet.first() == Some(&ERR) { Err(self.told()) } else { Ok(()) }
    }

    /// The last packet.
    pub fn packet(&self) -> &[u8] {
        &self.packet
    }

    /// Reads the last packet.
    pub fn read<'a, T: MyDeserialize<'a>>(&'a self, context: T::Ctx) -> Result<T, SqlFailure> {
        T::deserialize(context, &mut ParseBuf(&self.packet)).map_err(broken)
    }

    /// Whether the last packet ends a list.
    pub fn is_end(&self) -> bool {
        self.packet.first() == Some(&EOF) && self.packet.len() <= LONGEST_EOF
    }

    /// The last packet, as one that says how a statement ended.
    pub fn ok(&self) -> Result<OkPacket<'_>, SqlFailure> {
        self.ending::<CommonOkPacket>()
    }

    /// The last packet, as one that ends a list.
    pub fn end(&self) -> Result<OkPacket<'_>, SqlFailure> {
        self.ending::<OldEofPacket>()
    }

    fn ending<'a, K: OkPacketKind + 'a>(&'a self) -> Result<OkPacket<'a>, SqlFailure> {
        let read: OkPacketDeserializer<'a, K> = self.read(self.capabilities)?;
        Ok(read.into_inner())
    }

    /// What the server says went wrong.
    fn told(&self) -> SqlFailure {
        match self.read::<ErrPacket<'_>>(self.capabilities) {
            Ok(ErrPacket::Error(error)) => {
                let (number, text) = (error.error_code(), error.message_str().into_owned());
                let state = error.sql_state_ref().map(|state| state.as_str().into_owned());
                let shown = state.as_deref().map(|state| format!(" ({state})")).unwrap_or_default();
                let mut failure = SqlFailure::refused(format!("Error {number}{shown}: {text}"));
                failure.parts = Vec::from([("number", number.to_string()), ("message", text)]);
                failure.parts.extend(state.map(|state| ("sqlState", state)));
                failure
            }
            Ok(ErrPacket::Progress(_)) => SqlFailure::lost("the server reports progress, which was not asked for"),
            Err(failure) => failure,
        }
    }

    /// Counts what went over the network since the last time.
    pub fn count(&self, vu: &Vu) {
        self.socket.count(vu);
    }

    /// Whether nothing came since the last answer.
    pub fn is_quiet(&mut self) -> bool {
        self.socket.is_quiet()
    }
}

/// The server said what the protocol does not have.
pub fn broken(error: impl std::fmt::Display) -> SqlFailure {
    SqlFailure::lost(format!("the server's answer cannot be read: {error}"))
}
