//! Connecting to MySQL: encryption, who asks, and the proof in whichever way the server wants it.

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Response};
use mysql_common::constants::CapabilityFlags;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest};
use mysql_common::proto::MySerialize;
use script::Vu;

use super::super::common::call::SqlFailure;
use super::packets::{Packets, broken};
use super::source::{MysqlSource, MysqlTls};

/// What this client says that it takes in one packet.
const MAX_PACKET: u32 = 64 << 20;
/// The number of utf8mb4_general_ci, which every version has.
const COLLATION: u8 = 45;
const OK: u8 = 0;
const MORE: u8 = 1;
const SWITCH: u8 = 0xfe;

/// What a proof needs to know.
struct Proof<'a> {
    password: &'a [u8],
    scramble: Vec<u8>,
    is_unix: bool,
    is_tls: bool,
}

impl Context for &Proof<'_> {
    fn pass(&self) -> &[u8] {
        self.password
    }

    fn is_ipc_transport(&self) -> bool {
        self.is_unix
    }

    fn is_tls_transport(&self) -> bool {
        self.is_tls
    }

    fn scramble(&self) -> &[u8] {
        &self.scramble
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

/// Opens a connection on which the user is known.
pub async fn connect(vu: &Vu, source: &MysqlSource) -> Result<Packets, SqlFailure> {
    let mut packets = Packets::open(vu, source).await?;
    packets.next().await?;
    let greeting = packets.read::<HandshakePacket<'_>>(())?.into_owned();
    let offered = greeting.capabilities();
    let is_tls = wants_tls(source, offered)?;
    packets.capabilities = capabilities(source, is_tls) & offered;
    if is_tls {
        let mut request = Vec::new();
        SslRequest::new(packets.capabilities, MAX_PACKET, COLLATION).serialize(&mut request);
        packets.send(&request).await?;
        packets = packets.encrypt(vu, source).await?;
    }
    let is_unix = source.place.port == 0;
    let proof = Proof { password: source.password.as_bytes(), scramble: greeting.nonce(), is_unix, is_tls };
    let plugin = greeting.auth_plugin().unwrap_or(AuthPlugin::MysqlNativePassword);
    prove(&mut packets, source, proof, plugin.into_owned()).await?;
    Ok(packets)
}

fn wants_tls(source: &MysqlSource, offered: CapabilityFlags) -> Result<bool, SqlFailure> {
    let can = offered.contains(CapabilityFlags::CLIENT_SSL);
    match source.tls {
        MysqlTls::Off => Ok(false),
        MysqlTls::Preferred => Ok(can),
        MysqlTls::Unchecked | MysqlTls::Checked if can => Ok(true),
        _ => Err(SqlFailure::lost("TLS requested but server does not support TLS")),
    }
}

fn capabilities(source: &MysqlSource, is_tls: bool) -> CapabilityFlags {
    let mut flags = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_LONG_FLAG
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PS_MULTI_RESULTS;
    flags.set(CapabilityFlags::CLIENT_SSL, is_tls);
    flags.set(CapabilityFlags::CLIENT_FOUND_ROWS, source.counts_found);
    flags.set(CapabilityFlags::CLIENT_MULTI_STATEMENTS, source.takes_several);
    flags.set(CapabilityFlags::CLIENT_CONNECT_WITH_DB, !source.database.is_empty());
    flags
}

async fn prove(
    packets: &mut Packets,
    source: &MysqlSource,
    mut proof: Proof<'_>,
    plugin: AuthPlugin<'static>,
) -> Result<(), SqlFailure> {
    let mut procedure = begin(source, &proof, &plugin)?;
    let first = procedure.run(&proof, &proof.scramble).map_err(failed)?;
    let response = HandshakeResponse::new(
        Some(first.data().unwrap_or_default()),
        (8, 0, 0),
        Some(source.user.as_bytes()),
        (!source.database.is_empty()).then_some(source.database.as_bytes()),
        Some(plugin),
        packets.capabilities,
        None,
        MAX_PACKET,
    );
    let mut content = Vec::new();
    response.serialize(&mut content);
    packets.send(&content).await?;
    loop {
        packets.next().await.map_err(|failure| SqlFailure { is_usable: false, ..failure })?;
        let response = match packets.packet().first() {
            Some(&OK) => return Ok(()),
            Some(&MORE) => procedure.run(&proof, &packets.packet()[1..]).map_err(failed)?,
            Some(&SWITCH) => {
                let switch = packets.read::<AuthSwitchRequest<'_>>(())?;
                procedure = begin(source, &proof, &switch.auth_plugin())?;
                proof.scramble = switch.plugin_data().to_vec();
                procedure.run(&proof, &proof.scramble).map_err(failed)?
            }
            _ => return Err(broken("a login neither goes on nor ends")),
        };
        if let Response::Next { packet: Some(content) } | Response::Last { packet: Some(content) } = response {
            packets.send(&content).await?;
        }
    }
}

/// The procedure of a plugin, unless it would give the password to whoever listens.
fn begin(source: &MysqlSource, proof: &Proof<'_>, plugin: &AuthPlugin<'_>) -> Result<AuthProc, SqlFailure> {
    let is_private = proof.is_tls || proof.is_unix || source.sends_clear_password;
    match plugin {
        AuthPlugin::MysqlClearPassword if !is_private => Err(SqlFailure::lost(
            "this user requires clear text authentication: use tls=true, or allowCleartextPasswords=true to send the \
             password as it is",
        )),
        AuthPlugin::MysqlOldPassword => Err(SqlFailure::lost("this user requires old password authentication")),
        plugin => plugin.init().map_err(|error| SqlFailure::lost(format!("the login cannot go on: {error}"))),
    }
}

fn failed(error: mysql_common::auth::plugins::Error) -> SqlFailure {
    SqlFailure::lost(format!("the login cannot go on: {error}"))
}
