//! `client.connect`: its params, the connection, and what the calls of a connection have in common.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use grpc::connect::Codec;
use host::bytes;
use host::js::object::Filter;
use host::js::{Coerced, Ctx, FromJs, Result, Value};
use wire::client::Http2Use;
use wire::settings::{ClientIdentity, TlsSettings};
use wire::{Client, Failure, FailureKind, Step, Url};

use super::channel::{GrpcChannel, GrpcTarget, KnownTls, SharedChannels};
use super::dialect::CallDialect;
use super::params::read_metadata;
use crate::http::common::go_format::go_text;
use crate::http::request::params as http_params;
use crate::http::response::failure_text::described;
use script::Vu;
use script::arguments::ArgumentError;
use script::go_error;

/// The time for a connection, unless the script says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of a message that is received, unless the script says otherwise.
const MAX_RECEIVE: usize = 4 << 20;

/// The params of `connect`.
#[derive(Default)]
pub struct DialParams {
    plaintext: bool,
    timeout: Option<Duration>,
    /// Asks the server for its descriptors.
    pub reflect: bool,
    /// Sent with the questions.
    pub reflect_metadata: Vec<(String, Vec<u8>)>,
    max_receive: Option<usize>,
    max_send: Option<usize>,
    authority: Option<String>,
    tls: Option<TlsParams>,
    /// The users of a worker share so many connections.
    connections: Option<usize>,
    /// The protocol of the calls, when the script names one.
    is_connect: bool,
    codec: Option<Codec>,
    /// HTTP/1.1, or HTTP/2.
    http1: Option<bool>,
}

/// TLS of one client: what the script wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TlsParams {
    cert: Option<String>,
    key: Option<String>,
    password: Option<String>,
    authorities: Vec<String>,
}

/// A stream that is open on a connection.
pub trait EndsWithItsConnection {
    /// The client was closed.
    fn cancel(&self);
}

/// A client that is connected.
pub struct Connected {
    /// Where it goes, and its connection when that is one of HTTP/2.
    pub channel: Rc<GrpcChannel>,
    /// How its calls are written.
    pub dialect: CallDialect,
    /// What makes its requests when they go by HTTP/1.1.
    pub http1: Option<Rc<Client>>,
    /// Streams that were begun on it and may be open.
    pub streams: RefCell<Vec<Weak<dyn EndsWithItsConnection>>>,
    /// As the script wrote it.
    pub address: String,
    /// `:authority` when it is not the address.
    pub authority: Option<String>,
    /// Bytes of a message that is received at most.
    pub max_receive: usize,
    /// Bytes of a message that is sent at most.
    pub max_send: usize,
    /// The run's.
    pub user_agent: String,
    /// Methods that were called on it.
    pub methods: RefCell<Vec<Rc<super::call::Bound>>>,
}

type Read<T> = std::result::Result<T, ArgumentError<String>>;

fn refused<T>(why: String) -> Read<T> {
    Err(ArgumentError::Refused(why))
}

impl DialParams {
    /// Reads params; throws what is wrong with them.
    pub fn from_js<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> Result<DialParams> {
        let mut params = DialParams::default();
        params.read(ctx, value).map_err(|error| {
            error.or_throw(|why| go_error::throw(ctx, &format!("invalid grpc.connect() parameters: {why}")))
        })?;
        Ok(params)
    }

    fn read<'js>(&mut self, ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> Read<()> {
        let Some(value) = value else { return Ok(()) };
        if value.is_string() {
            return refused(String::from("unknown connect param: \"0\""));
        }
        let Some(object) = value.as_object() else { return Ok(()) };
        for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
            let (key, value) = entry?;
            let key = bytes::to_text(ctx, &key)?;
            self.field(ctx, &key, &value)?;
        }
        self.agree()
    }

    /// Whether the params go together.
    fn agree(&self) -> Read<()> {
        let given = [("codec", self.codec.is_some()), ("httpVersion", self.http1.is_some())];
        if let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given && !self.is_connect) {
            return refused(format!(
                "{name} belongs to the protocol \"connect\": gRPC has one codec, and needs HTTP/2"
            ));
        }
        if self.is_connect && self.reflect {
            let why = "reflect asks by gRPC, but protocol is \"connect\": load the .proto files instead";
            return refused(String::from(why));
        }
        if self.speaks_http1() && self.tls.is_some() && !self.plaintext {
            let why = "tls belongs to connections of HTTP/2: leave it out, or httpVersion \"1.1\"";
            return refused(String::from(why));
        }
        if self.speaks_http1() && self.connections.is_some() {
            return refused(String::from("connections are shared over HTTP/2 alone: add httpVersion \"2\""));
        }
        Ok(())
    }

    /// Connect goes by HTTP/1.1 where nobody negotiates, as its other clients have it.
    fn speaks_http1(&self) -> bool {
        self.is_connect && self.http1.unwrap_or(self.plaintext)
    }

    fn field<'js>(&mut self, ctx: &Ctx<'js>, key: &str, value: &Value<'js>) -> Read<()> {
        match key {
            "plaintext" => self.plaintext = flag(ctx, key, value)?,
            "reflect" => self.reflect = flag(ctx, key, value)?,
            "timeout" => {
                let time = http_params::timeout(value).map_err(|error| error.map(|refusal| refusal.message))?;
                self.timeout = (!time.is_zero()).then_some(time);
            }
            "maxReceiveSize" => self.max_receive = size(ctx, key, value)?,
            "maxSendSize" => self.max_send = size(ctx, key, value)?,
            "authority" => match bytes::text(value)? {
                Some(text) => self.authority = Some(text).filter(|text| !text.is_empty()),
                None => {
                    let shown = shown(ctx, value)?;
                    return refused(format!("invalid authority value: '{shown}', it needs to be a string"));
                }
            },
            "reflectMetadata" => {
                let mut problem = None;
                self.reflect_metadata = read_metadata(ctx, "reflectMetadata", value, &mut problem)?;
                if let Some(problem) = problem {
                    return refused(format!("invalid reflectMetadata param: {problem}"));
                }
            }
            "tls" => self.tls = TlsParams::read(ctx, value)?,
            "connections" => match size(ctx, key, value)? {
                Some(0) => return refused(String::from("invalid connections value: '0', it needs to be 1 or more")),
                count => self.connections = count,
            },
            "protocol" => self.is_connect = one_of(ctx, key, value, ["grpc", "connect"])? == 1,
            "codec" => {
                self.codec = Some([Codec::Proto, Codec::Json][one_of(ctx, key, value, ["proto", "json"])?]);
            }
            "httpVersion" => self.http1 = Some(one_of(ctx, key, value, ["2", "1.1"])? == 1),
            unknown => return refused(format!("unknown connect param: {unknown:?}")),
        }
        Ok(())
    }

    /// Opens the connection. The error is the exception's text.
    pub async fn open(&self, vu: &Vu, address: String) -> std::result::Result<Connected, String> {
        let url = parse(&address, self.plaintext).map_err(|why| undialed(&why))?;
        let channel = self.channel(vu, &url)?;
        let http1 = self.speaks_http1().then(|| http1_client(vu));
        if http1.is_none() {
            let timeout = self.timeout.unwrap_or(DEFAULT_TIMEOUT);
            channel.connection(vu, timeout).await.map_err(|failure| failed(&failure, &url))?;
        }
        let codec = self.codec.unwrap_or_default();
        Ok(Connected {
            streams: RefCell::default(),
            channel,
            dialect: if self.is_connect { CallDialect::Connect(codec) } else { CallDialect::Grpc },
            http1,
            address,
            authority: self.authority.clone(),
            max_receive: self.max_receive.unwrap_or(MAX_RECEIVE),
            max_send: self.max_send.unwrap_or(i32::MAX as usize),
            user_agent: vu.options().network_settings().user_agent,
            methods: RefCell::default(),
        })
    }

    /// A channel of the client's own, or one that it shares.
    fn channel(&self, vu: &Vu, url: &Url) -> std::result::Result<Rc<GrpcChannel>, String> {
        let tls = self.tls.as_ref().filter(|_| !self.plaintext);
        let configs = tls.map(|params| vu.worker_local::<KnownTls>().of(vu, params)).transpose()?;
        let server_name = self.authority.as_deref().map(|name| name.rsplit_once(':').map_or(name, |(name, _)| name));
        let target =
            || GrpcTarget { url: url.clone(), tls: configs.clone(), server_name: server_name.map(str::to_owned) };
        match self.connections {
            None => Ok(GrpcChannel::new(target())),
            Some(_) if vu.link().is_some() => Err(String::from(
                "connections cannot be shared, because each user of this scenario has a link of its own",
            )),
            Some(count) => {
                let key = format!("{} {} {server_name:?} {tls:?} {count}", url.authority, self.plaintext);
                Ok(vu.worker_local::<SharedChannels>().next(key, count, target))
            }
        }
    }
}

/// A client with connections of its own, none of HTTP/2.
fn http1_client(vu: &Vu) -> Rc<Client> {
    let client = Client::new(vu.client_context());
    vu.count_received(&client);
    client.use_http2(Http2Use::Never);
    client.set_link(vu.link());
    Rc::new(client)
}

/// Address and port of a target.
fn parse(address: &str, plaintext: bool) -> std::result::Result<Url, String> {
    let (host, port) = match address.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && !port.contains(']') => (host, port),
        _ if address.is_empty() => return Err(String::from("missing port in address")),
        _ => return Err(format!("address {address}: missing port in address")),
    };
    let is_v6 = host.starts_with('[') && host.ends_with(']');
    if host.contains(':') && !is_v6 {
        return Err(format!("address {address}: too many colons in address"));
    }
    let host = if host.is_empty() { "localhost" } else { host };
    let scheme = if plaintext { "http" } else { "https" };
    Url::parse(&format!("{scheme}://{host}:{port}")).map_err(|failure| failure.message)
}

fn undialed(why: &str) -> String {
    format!("connection error: desc = \"transport: error while dialing: {why}\"")
}

fn failed(failure: &Failure, url: &Url) -> String {
    let why = described(failure, url);
    match failure.step {
        // An HTTP/1.1 server's answer, most often: it is no frame.
        Step::Receive if matches!(failure.kind, FailureKind::Http2Connection(_)) => {
            let told = format!("the server does not speak HTTP/2: {why}");
            format!("connection error: desc = \"error reading server preface: {told}\"")
        }
        Step::Receive => format!("connection error: desc = \"error reading server preface: {why}\""),
        Step::Handshake => format!("connection error: desc = \"transport: authentication handshake failed: {why}\""),
        _ => undialed(&why),
    }
}

impl TlsParams {
    fn read<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Read<Option<TlsParams>> {
        if value.is_undefined() || value.is_null() {
            return Ok(None);
        }
        let Some(object) = value.as_object() else {
            let (shown, keys) = (shown(ctx, value)?, "cert, key, password, and cacerts");
            return refused(format!("invalid tls value: '{shown}', expected (optional) keys: {keys}"));
        };
        let mut tls = TlsParams::default();
        let text = |name: &str, wanted: &str| -> Read<Option<String>> {
            let given: Value<'js> = object.get(name)?;
            match bytes::text(&given)? {
                Some(text) => Ok(Some(text)),
                None if given.is_undefined() => Ok(None),
                None => {
                    refused(format!("invalid tls {name} value: '{}', it needs to be a {wanted}", shown(ctx, &given)?))
                }
            }
        };
        tls.cert = text("cert", "PEM formatted string")?;
        tls.key = text("key", "PEM formatted string")?;
        tls.password = text("password", "string")?;
        let given: Value<'js> = object.get("cacerts")?;
        let listed = given.as_array().map(|list| list.iter::<Value<'js>>().collect::<Result<Vec<_>>>()).transpose()?;
        for value in listed.unwrap_or_else(|| Vec::from([given])).into_iter().filter(|value| !value.is_undefined()) {
            let Some(pem) = bytes::text(&value)? else {
                let wanted = "it needs to be a string or an array of PEM formatted strings";
                return refused(format!("invalid tls cacerts value: '{}', {wanted}", shown(ctx, &value)?));
            };
            tls.authorities.push(pem);
        }
        Ok(Some(tls))
    }

    /// What they make of the run's settings; the error says what is wrong with them.
    pub fn settings(&self, run: &TlsSettings) -> std::result::Result<TlsSettings, String> {
        let mut settings = run.clone();
        for (index, pem) in self.authorities.iter().enumerate() {
            if !pem.contains("-----BEGIN CERTIFICATE-----") {
                return Err(format!("failed to append ca certificate [{index}] from PEM"));
            }
        }
        if !self.authorities.is_empty() {
            settings.trusted_pem = Some(self.authorities.join("\n"));
        }
        if let (Some(cert), Some(key)) = (&self.cert, &self.key) {
            let identity = ClientIdentity::read(Vec::new(), cert, key, self.password.as_deref());
            let identity = identity.map_err(|why| format!("failed to append certificate from PEM: {why}"))?;
            settings.identities = Vec::from([std::sync::Arc::new(identity)]);
        }
        Ok(settings)
    }
}

/// A value as messages show it: text in quotes.
fn shown<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    Ok(match bytes::text(value)? {
        Some(text) => format!("{text:?}"),
        None => go_text(ctx, value)?,
    })
}

fn flag<'js>(ctx: &Ctx<'js>, key: &str, value: &Value<'js>) -> Read<bool> {
    match value.as_bool() {
        Some(flag) => Ok(flag),
        None => refused(format!("invalid {key} value: '{}', it needs to be boolean", shown(ctx, value)?)),
    }
}

/// Which of these texts it is.
fn one_of<'js, const N: usize>(ctx: &Ctx<'js>, key: &str, value: &Value<'js>, texts: [&str; N]) -> Read<usize> {
    let given = bytes::text(value)?;
    match texts.iter().position(|text| given.as_deref() == Some(text)) {
        Some(at) => Ok(at),
        None => {
            let wanted = texts.map(|text| format!("{text:?}")).join(" or ");
            refused(format!("invalid {key} value: '{}', it needs to be {wanted}", shown(ctx, value)?))
        }
    }
}

fn size<'js>(ctx: &Ctx<'js>, key: &str, value: &Value<'js>) -> Read<Option<usize>> {
    let number = value.as_number().filter(|number| number.fract() == 0.0);
    match number {
        Some(number) if number >= 0.0 => Ok(Some(Coerced::<f64>::from_js(ctx, value.clone())?.0 as usize)),
        Some(number) => refused(format!("invalid {key} value: '{number}, it needs to be a positive integer")),
        None => refused(format!("invalid {key} value: '{}', it needs to be an integer", shown(ctx, value)?)),
    }
}
