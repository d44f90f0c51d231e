//! Where a connection goes and what it says first: the addresses of brokers, and the greeting.

use std::time::Duration;

use rumqttc::mqttbytes::v4::{Connect, Login};
use script::series::SampleTags;
use url::Url;

use super::options::{ClientOptions, ConnectOptions};
use crate::client::dial::Place;

/// How a broker is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Packets over TCP, or over TLS.
    Stream { place: Place, is_secure: bool },
    /// Packets in messages of a WebSocket, whose address in the words of HTTP this is.
    Socket(String),
}

/// A broker.
#[derive(Clone, Debug)]
pub struct Broker {
    /// Its address without name and password, for people.
    pub shown: String,
    /// How it is reached.
    pub way: Way,
    login: Option<Login>,
}

/// What is needed to connect, and to connect again.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Tried in this order.
    pub brokers: Vec<Broker>,
    /// For each.
    pub timeout: Duration,
    /// After so long without a word there is a ping; 0: none.
    pub keep_alive: Duration,
    /// Tags of the samples of the connection.
    pub tags: SampleTags,
    client: ClientOptions,
    clean_session: bool,
}

impl Plan {
    /// Of what the script has given.
    pub fn new(client: ClientOptions, connect: ConnectOptions) -> Result<Plan, String> {
        let brokers = connect.servers.iter().map(|text| broker(text)).collect::<Result<_, _>>()?;
        if !connect.clean_session && client.client_id.is_empty() {
            // MQTT 3.1.1, 3.1.3.1: the broker must refuse it.
            return Err(String::from("clean_session: false needs a client_id, by which the broker finds the session"));
        }
        let mut tags = client.tags.clone();
        tags.retain(|(name, _)| connect.tags.iter().all(|(given, _)| given != name));
        tags.extend(connect.tags);
        let ConnectOptions { timeout, keep_alive, clean_session, .. } = connect;
        Ok(Plan { brokers, timeout, keep_alive, tags, client, clean_session })
    }

    /// The greeting for a broker.
    pub fn greeting(&self, broker: &Broker) -> Connect {
        let mut connect = Connect::new(self.client.client_id.clone());
        connect.keep_alive = u16::try_from(self.keep_alive.as_secs()).unwrap_or(u16::MAX);
        connect.clean_session = self.clean_session;
        connect.last_will.clone_from(&self.client.will);
        connect.login = self.client.login.clone().or_else(|| broker.login.clone());
        connect
    }
}

/// Reads an address.
pub(crate) fn broker(text: &str) -> Result<Broker, String> {
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("mqtt://{text}") };
    let wrong = |why: String| format!("the broker's address is {text:?}: {why}");
    let mut url = Url::parse(&with_scheme).map_err(|error| wrong(error.to_string()))?;
    let plain = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let login = (!url.username().is_empty())
        .then(|| Login { username: plain(url.username()), password: plain(url.password().unwrap_or("")) });
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| wrong(String::from("no host")))?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).to_owned();
    // Only what is shown and asked of a WebSocket is left without them; both fail only without a host.
    let _cut = (url.set_username(""), url.set_password(None));
    let stream = |is_secure: bool, port: u16| Way::Stream {
        place: Place { host: host.clone(), port: url.port().unwrap_or(port) },
        is_secure,
    };
    let way = match url.scheme() {
        "mqtt" | "tcp" => stream(false, 1883),
        "mqtts" | "ssl" | "tls" => stream(true, 8883),
        "ws" | "wss" => Way::Socket(url.as_str().replacen("ws", "http", 1)),
        other => {
            let why = format!("unknown scheme {other}, expected mqtt, tcp, mqtts, ssl, tls, ws or wss");
            return Err(wrong(why));
        }
    };
    Ok(Broker { shown: url.to_string(), way, login })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let at = |host: &str, port, is_secure| Way::Stream { place: Place { host: host.into(), port }, is_secure };
        for (text, way) in [
            ("localhost", at("localhost", 1883, false)),
            ("127.0.0.1:1", at("127.0.0.1", 1, false)),
            ("tcp://a.test", at("a.test", 1883, false)),
            ("ssl://a.test", at("a.test", 8883, true)),
            ("tls://a.test:2", at("a.test", 2, true)),
            ("mqtts://u:p@[::1]:3", at("::1", 3, true)),
            ("ws://u@a.test/mqtt", Way::Socket(String::from("http://a.test/mqtt"))),
            ("wss://a.test:4", Way::Socket(String::from("https://a.test:4/"))),
        ] {
            assert_eq!(broker(text).unwrap().way, way, "{text}");
        }
        let Login { username, password } = broker("mqtt://u%40x:p@h").unwrap().login.unwrap();
        assert_eq!((username.as_str(), password.as_str()), ("u@x", "p"));
        let why = broker("http://a.test").unwrap_err();
        assert!(why.contains("unknown scheme http, expected mqtt"), "{why}");
        assert!(broker("mqtt://").unwrap_err().contains("no host"));
    }
}
