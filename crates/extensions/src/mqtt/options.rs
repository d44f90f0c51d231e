//! What the script gives: options of the client and of a connection, under the names of k6's documentation.

use std::time::Duration;

use host::bytes;
use host::js::object::Filter;
use host::js::{Coerced, Ctx, FromJs, Object, Result, Value};
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v4::{LastWill, Login};
use script::Vu;
use script::arguments::{member, present};
use script::go_error;
use script::series::{SampleTags, own_tags};

/// Options of `new Client`.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// Empty: the broker chooses one.
    pub client_id: String,
    /// Name and password.
    pub login: Option<Login>,
    /// What the broker publishes when the client is gone without a word.
    pub will: Option<LastWill>,
    /// Tags of all its samples.
    pub tags: SampleTags,
}

/// Options of `connect`.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// After so long without a word there is a ping; 0: none.
    pub keep_alive: Duration,
    /// For a connection, the broker's word included.
    pub timeout: Duration,
    /// The broker begins a session.
    pub clean_session: bool,
    /// Brokers, tried in this order.
    pub servers: Vec<String>,
    /// Tags of its samples.
    pub tags: SampleTags,
}

impl Default for ConnectOptions {
    fn default() -> ConnectOptions {
        ConnectOptions {
            keep_alive: Duration::from_secs(60),
            timeout: Duration::from_secs(30),
            clean_session: true,
            servers: Vec::new(),
            tags: SampleTags::new(),
        }
    }
}

/// Options of a single call.
#[derive(Clone, Debug)]
pub struct CallOptions {
    /// Of a message or a subscription.
    pub qos: QoS,
    /// The broker keeps the message for those who come later.
    pub retain: bool,
    /// Tags of its samples.
    pub tags: SampleTags,
}

/// An object of options, with the names that mean something in it.
struct Options<'a, 'js> {
    ctx: &'a Ctx<'js>,
    method: &'static str,
    object: Option<Object<'js>>,
}

impl<'a, 'js> Options<'a, 'js> {
    fn of(
        ctx: &'a Ctx<'js>,
        method: &'static str,
        value: Option<Value<'js>>,
        known: &[&str],
    ) -> Result<Options<'a, 'js>> {
        let object = match present(value) {
            None => None,
            Some(value) => {
                let found = value.type_name();
                let object = value.into_object().filter(|object| !object.is_array());
                let text = || format!("{method}: found {found} for the options, expected an object");
                Some(object.ok_or_else(|| go_error::throw(ctx, &text()))?)
            }
        };
        // Ignored, as k6 ignores it; said, because it may be a mistake of spelling.
        for name in object.iter().flat_map(|object| object.own_keys::<String>(Filter::new().string().enum_only())) {
            let name = name?;
            if !known.contains(&name.as_str()) {
                let text = format!("{method}: unknown option {name:?} is ignored, known are {}", known.join(", "));
                Vu::of(ctx).log().warn(&text, &[]);
            }
        }
        Ok(Options { ctx, method, object })
    }

    fn get(&self, name: &str) -> Result<Option<Value<'js>>> {
        self.object.as_ref().map_or(Ok(None), |object| member(object, name))
    }

    fn text(&self, name: &str) -> Result<Option<String>> {
        let text = self.get(name)?.map(|value| bytes::to_text(self.ctx, &value)).transpose()?;
        match text.as_ref().map(String::len).filter(|length| *length > TEXT_LIMIT) {
            Some(length) => Err(self.refuse(&format!("{name} has {length} bytes, expected {TEXT_LIMIT} at most"))),
            None => Ok(text),
        }
    }

    fn flag(&self, name: &str) -> Result<Option<bool>> {
        self.get(name)?.map(|value| Coerced::<bool>::from_js(self.ctx, value).map(|flag| flag.0)).transpose()
    }

    fn number(&self, name: &str, expected: &str, most: f64) -> Result<Option<f64>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let number = Coerced::<f64>::from_js(self.ctx, value)?.0;
        if number >= 0.0 && number <= most {
            return Ok(Some(number));
        }
        Err(self.refuse(&format!("{name}: found {number}, expected {expected}")))
    }

    fn qos(&self) -> Result<QoS> {
        match self.number("qos", "0, 1 or 2", 2.0)? {
            None | Some(0.0) => Ok(QoS::AtMostOnce),
            Some(1.0) => Ok(QoS::AtLeastOnce),
            Some(2.0) => Ok(QoS::ExactlyOnce),
            Some(other) => Err(self.refuse(&format!("qos: found {other}, expected 0, 1 or 2"))),
        }
    }

    fn tags(&self) -> Result<SampleTags> {
        own_tags(self.ctx, self.get("tags")?)
    }

    fn refuse(&self, why: &str) -> host::js::Error {
        go_error::throw(self.ctx, &format!("{}: {why}", self.method))
    }
}

/// Options of `new Client`, and the function that gives name and password.
pub fn of_client<'js>(ctx: &Ctx<'js>, value: Option<Value<'js>>) -> Result<(ClientOptions, Option<Value<'js>>)> {
    // `clientId` is how the declarations of k6's extension spell it; its documentation has `client_id`.
    let names = ["client_id", "clientId", "username", "password", "credentials_provider", "will", "tags"];
    let options = Options::of(ctx, "new Client", value, &names)?;
    let client_id = match options.text("client_id")? {
        Some(name) => name,
        None => options.text("clientId")?.unwrap_or_default(),
    };
    let login = login(options.text("username")?, options.text("password")?);
    let provider = options.get("credentials_provider")?;
    if provider.as_ref().is_some_and(|provider| !provider.is_function()) {
        return Err(options.refuse("credentials_provider: expected a function that returns username and password"));
    }
    let will = options.get("will")?.map(|will| of_will(ctx, will)).transpose()?;
    Ok((ClientOptions { client_id, login, will, tags: options.tags()? }, provider))
}

fn of_will<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<LastWill> {
    let options = Options::of(ctx, "will", Some(value), &["topic", "payload", "qos", "retain"])?;
    let Some(topic) = options.text("topic")?.filter(|topic| is_topic(topic)) else {
        return Err(options.refuse("topic: expected a topic without wildcards"));
    };
    let payload = match options.get("payload")? {
        Some(payload) => payload_of(ctx, "will", &payload)?,
        None => Vec::new(),
    };
    if payload.len() > TEXT_LIMIT {
        return Err(options.refuse(&format!("payload has {} bytes, expected {TEXT_LIMIT} at most", payload.len())));
    }
    Ok(LastWill::new(topic, payload, options.qos()?, options.flag("retain")?.unwrap_or(false)))
}

/// Name and password; a password without a name has no place in MQTT 3.1.1.
pub fn login(username: Option<String>, password: Option<String>) -> Option<Login> {
    let password = password.unwrap_or_default();
    username.filter(|name| !name.is_empty()).map(|username| Login { username, password })
}

/// What a `credentials_provider` returned.
pub fn of_credentials<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Option<Login>> {
    let options = Options::of(ctx, "credentials_provider", Some(value), &["username", "password"])?;
    Ok(login(options.text("username")?, options.text("password")?))
}

/// Options of `connect`; an address is the first of the servers.
pub fn of_connect<'js>(
    ctx: &Ctx<'js>,
    address: Option<Value<'js>>,
    more: Option<Value<'js>>,
) -> Result<ConnectOptions> {
    let (address, object) = match present(address) {
        Some(first) if first.is_object() => (None, Some(first)),
        Some(first) => (Some(bytes::to_text(ctx, &first)?), more),
        None => (None, more),
    };
    let names = ["keepalive", "connect_timeout", "clean_session", "servers", "tags"];
    let options = Options::of(ctx, "connect", object, &names)?;
    let mut found = ConnectOptions { tags: options.tags()?, ..ConnectOptions::default() };
    if let Some(seconds) = options.number("keepalive", "seconds up to 65535", 65535.0)? {
        found.keep_alive = Duration::from_secs(seconds as u64);
    }
    if let Some(ms) = options.number("connect_timeout", "milliseconds", 1e12)?.filter(|ms| *ms > 0.0) {
        found.timeout = Duration::from_secs_f64(ms / 1e3);
    }
    found.clean_session = options.flag("clean_session")?.unwrap_or(true);
    found.servers.extend(address);
    if let Some(servers) = options.get("servers")? {
        found.servers.extend(texts(ctx, "connect: servers", servers)?);
    }
    if found.servers.is_empty() {
        return Err(options.refuse("no broker: give its URL, as in connect(\"mqtt://127.0.0.1:1883\")"));
    }
    Ok(found)
}

/// Options of a call that sends a message or subscribes.
pub fn of_call<'js>(ctx: &Ctx<'js>, method: &'static str, value: Option<Value<'js>>) -> Result<CallOptions> {
    let known: &[&str] = match method {
        "publish" | "publishAsync" => &["qos", "retain", "tags"],
        "subscribe" | "subscribeAsync" => &["qos", "tags"],
        _ => &["tags"],
    };
    let options = Options::of(ctx, method, value, known)?;
    let retain = options.flag("retain")?.unwrap_or(false);
    Ok(CallOptions { qos: options.qos()?, retain, tags: options.tags()? })
}

/// A text, or several.
pub fn texts<'js>(ctx: &Ctx<'js>, what: &str, value: Value<'js>) -> Result<Vec<String>> {
    let list = match value.as_array() {
        Some(array) => array.iter::<Value<'js>>().map(|item| bytes::to_text(ctx, &item?)).collect::<Result<_>>()?,
        None if value.is_string() => Vec::from([bytes::to_text(ctx, &value)?]),
        None => Vec::new(),
    };
    match list.is_empty() {
        true => {
            Err(go_error::throw(ctx, &format!("{what}: found {}, expected a string or several", value.type_name())))
        }
        false => Ok(list),
    }
}

/// The bytes of a payload.
pub fn payload_of<'js>(ctx: &Ctx<'js>, method: &str, value: &Value<'js>) -> Result<Vec<u8>> {
    let refuse = || {
        let text =
            format!("{method}: found {} for the payload, expected a string or an ArrayBuffer", value.type_name());
        go_error::throw(ctx, &text)
    };
    bytes::read(ctx, value, <[u8]>::to_vec)?.ok_or_else(refuse)
}

/// Bytes of a text at most: its length is in two bytes (MQTT 3.1.1, 1.5.3).
const TEXT_LIMIT: usize = 65535;

/// Whether it can be subscribed to (MQTT 3.1.1, 4.7).
pub fn is_filter(filter: &str) -> bool {
    filter.len() <= TEXT_LIMIT && rumqttc::mqttbytes::valid_filter(filter)
}

/// Whether messages can be published to it.
pub fn is_topic(topic: &str) -> bool {
    !topic.is_empty() && topic.len() <= TEXT_LIMIT && !topic.contains(['+', '#', '\0'])
}
