//! What `new Client` is given: a URL, or an object of options. Names and defaults are those of k6's documentation;
//! times are in milliseconds.

use std::time::Duration;

use host::js::{Ctx, Result, Value};
use host::kind::Kind;
use script::go_error;
use serde::Deserialize;
use serde_json::Value as Json;
use url::Url;

use crate::client::dial::{Certificates, Place};
use crate::client::json_options;

/// Connections of a client to a server at once, unless the script says otherwise.
const POOL_SIZE: usize = 20;
const PORT: u16 = 6379;
/// How often a command is sent elsewhere because its key has moved.
const MAX_REDIRECTS: usize = 3;

/// The servers of a client.
#[derive(Clone, Debug)]
pub enum RedisOptions {
    /// One.
    Single(Box<NodeOptions>),
    /// A cluster.
    Cluster(ClusterOptions),
    /// Whoever sentinels say is the master.
    Sentinel(Box<SentinelOptions>),
}

/// A server and how it is reached.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// Where.
    pub place: Place,
    /// TLS, with the certificates of the script.
    pub tls: Option<Certificates>,
    /// What a new connection says.
    pub login: Login,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Connections at once.
    pub pool_size: usize,
}

/// What a new connection says.
#[derive(Clone, Debug, Default)]
pub struct Login {
    /// User of the server.
    pub username: Option<String>,
    /// Its password.
    pub password: Option<String>,
    /// The database's number.
    pub database: i64,
    /// The connection's name in the server's lists.
    pub client_name: Option<String>,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// A connection.
    pub dial: Duration,
    /// A command.
    pub read: Duration,
    /// A free connection.
    pub pool: Duration,
}

/// A cluster.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Who is asked for the others.
    pub seeds: Vec<NodeOptions>,
    /// How often a command follows its key.
    pub max_redirects: usize,
    /// Replicas may answer.
    pub read_only: bool,
}

/// A master that sentinels name.
#[derive(Clone, Debug)]
pub struct SentinelOptions {
    /// The sentinel.
    pub sentinel: NodeOptions,
    /// The master's name.
    pub master: String,
    /// How the master is reached; its place is not known yet.
    pub node: NodeOptions,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    socket: Option<GivenSocket>,
    username: Option<String>,
    password: Option<String>,
    client_name: Option<String>,
    #[serde(default)]
    database: i64,
    master_name: Option<String>,
    sentinel_username: Option<String>,
    sentinel_password: Option<String>,
    cluster: Option<GivenCluster>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct GivenSocket {
    host: String,
    port: Option<u16>,
    tls: Option<GivenTls>,
    dial_timeout: i64,
    read_timeout: i64,
    /// Writing has no time of its own: it is a part of the command's.
    #[serde(rename = "writeTimeout")]
    _write_timeout: i64,
    pool_size: usize,
    /// Connections are made when they are needed, and kept as long as the server keeps them.
    #[serde(rename = "minIdleConns")]
    _min_idle_conns: i64,
    #[serde(rename = "maxConnAge")]
    _max_conn_age: i64,
    pool_timeout: i64,
    #[serde(rename = "idleTimeout")]
    _idle_timeout: i64,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GivenTls {
    ca: Vec<String>,
    cert: Option<String>,
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GivenCluster {
    nodes: Json,
    max_redirects: Option<i64>,
    #[serde(default)]
    read_only: bool,
    /// Which of several replicas answers is chosen by chance.
    #[serde(default)]
    route_by_latency: bool,
    #[serde(default)]
    route_randomly: bool,
}

/// Reads the argument; throws what is wrong with it.
pub fn read<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> Result<RedisOptions> {
    let Some(value) = value else { return Err(go_error::throw(ctx, "must specify one argument")) };
    let read = match Kind::of(value) {
        Kind::Text(_) => from_url(&host::bytes::to_text(ctx, value)?).map(|node| RedisOptions::Single(Box::new(node))),
        Kind::Plain(_) | Kind::Other(_) => json_options::of_script(ctx, value.clone())?.and_then(from_object),
        _ => {
            let found = value.type_name();
            return Err(go_error::throw(ctx, &format!("invalid options type: {found}; expected string or object")));
        }
    };
    read.map_err(|why| go_error::throw(ctx, &format!("invalid options; reason: {why}")))
}

type Read<T> = std::result::Result<T, String>;

/// `redis[s]://[[user][:password]@][host][:port][/database]`.
pub(crate) fn from_url(text: &str) -> Read<NodeOptions> {
    let expected = "expected redis[s]://[[user][:password]@][host][:port][/database]";
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    if !["redis", "rediss"].contains(&scheme) {
        return Err(format!("redis: invalid URL scheme: {scheme}; {expected}"));
    }
    let url = Url::parse(text).map_err(|error| format!("redis: invalid URL: {error}; {expected}"))?;
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let some = |text: &str| (!text.is_empty()).then(|| decoded(text));
    if let Some((name, _)) = url.query_pairs().next() {
        return Err(format!("redis: unexpected option: {name}; give an object of options instead"));
    }
    let path = url.path().trim_matches('/');
    let database = match path.is_empty() {
        true => 0,
        false => path.parse().map_err(|_| format!("redis: invalid database number: {path:?}"))?,
    };
    let login =
        Login { username: some(url.username()), password: url.password().and_then(some), database, client_name: None };
    let host = url.host_str().filter(|host| !host.is_empty()).unwrap_or("localhost").to_owned();
    let socket = GivenSocket { host, port: url.port(), ..GivenSocket::default() };
    Ok(NodeOptions { tls: (scheme == "rediss").then(Certificates::default), ..socket.node(login)? })
}

fn from_object(mut given: Given) -> Read<RedisOptions> {
    if let Some(cluster) = given.cluster.take() {
        return cluster.read(given).map(RedisOptions::Cluster);
    }
    let Some(socket) = given.socket.take() else { return Err(String::from("empty socket options")) };
    let Some(master) = given.master_name.take() else {
        return socket.node(given.login()).map(|node| RedisOptions::Single(Box::new(node)));
    };
    let of_sentinel = Login {
        username: given.sentinel_username.take(),
        password: given.sentinel_password.take(),
        ..Login::default()
    };
    let sentinel = socket.node(of_sentinel)?;
    let node = NodeOptions { login: given.login(), ..sentinel.clone() };
    Ok(RedisOptions::Sentinel(Box::new(SentinelOptions { sentinel, master, node })))
}

impl Given {
    fn login(self) -> Login {
        let Given { username, password, database, client_name, .. } = self;
        Login { username, password, database, client_name }
    }
}

impl GivenSocket {
    fn node(self, login: Login) -> Read<NodeOptions> {
        let time = |given: i64, default: Duration| match given {
            0 => default,
            given => u64::try_from(given).map_or(Duration::MAX, Duration::from_millis),
        };
        let (dial, read) =
            (time(self.dial_timeout, Duration::from_secs(5)), time(self.read_timeout, Duration::from_secs(3)));
        let pool = time(self.pool_timeout, read.saturating_add(Duration::from_secs(1)));
        let tls = self.tls.map(GivenTls::read).transpose()?;
        Ok(NodeOptions {
            place: Place { host: self.host, port: self.port.unwrap_or(PORT) },
            tls,
            login,
            timeouts: Timeouts { dial, read, pool },
            pool_size: if self.pool_size == 0 { POOL_SIZE } else { self.pool_size },
        })
    }
}

impl GivenTls {
    fn read(self) -> Read<Certificates> {
        let identity = match (self.cert, self.key) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            (Some(_), None) => return Err(String::from("tls: cert needs its key: found none")),
            (None, Some(_)) => return Err(String::from("tls: key needs its cert: found none")),
        };
        Ok(Certificates { authorities: self.ca, identity, is_unchecked: false })
    }
}

impl GivenCluster {
    fn read(self, above: Given) -> Read<ClusterOptions> {
        let Json::Array(nodes) = &self.nodes else {
            return Err(format!("cluster nodes property must be an array; got {}", self.nodes));
        };
        if nodes.is_empty() {
            return Err(String::from("cluster nodes property cannot be empty"));
        }
        let common = above.login();
        let seeds = nodes.iter().map(|node| match node {
            Json::String(url) => from_url(url),
            object => {
                let mut given: Given = json_options::parse(&object.to_string())?;
                let socket = given.socket.take().ok_or("empty socket options")?;
                socket.node(given.login())
            }
        });
        let mut seeds = seeds.collect::<Read<Vec<NodeOptions>>>()?;
        for seed in &mut seeds {
            let Login { username, password, client_name, database } = &mut seed.login;
            *username = username.take().or_else(|| common.username.clone());
            *password = password.take().or_else(|| common.password.clone());
            *client_name = client_name.take().or_else(|| common.client_name.clone());
            // A cluster has one database.
            *database = 0;
        }
        Ok(ClusterOptions {
            seeds,
            max_redirects: self.max_redirects.map_or(MAX_REDIRECTS, |most| usize::try_from(most).unwrap_or(0)),
            read_only: self.read_only || self.route_by_latency || self.route_randomly,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_server() {
        let node = from_url("rediss://me:p%40ss@redis.test:7000/3").unwrap();
        assert_eq!(node.place, Place { host: String::from("redis.test"), port: 7000 });
        assert_eq!((node.login.username.as_deref(), node.login.password.as_deref()), (Some("me"), Some("p@ss")));
        assert_eq!(node.login.database, 3);
        assert!(node.tls.is_some());
        let short = from_url("redis://").unwrap();
        assert_eq!(short.place, Place { host: String::from("localhost"), port: 6379 });
        for (bad, why) in [
            ("foo", "invalid URL scheme"),
            ("http://x", "invalid URL scheme: http"),
            ("redis://x/y", "invalid database number: \"y\""),
            ("redis://x/?a=1", "unexpected option: a"),
            ("redis://x:99999", "invalid port"),
        ] {
            let error = from_url(bad).unwrap_err();
            assert!(error.contains(why), "{bad}: {error}");
        }
    }

    #[test]
    fn objects_are_read_strictly() {
        let from_json = |text| json_options::parse(text).and_then(from_object);
        for (bad, why) in [
            ("{}", "empty socket options"),
            (r#"{"socket":{"hots":1}}"#, "unknown field `hots`, expected one of `host`, `port`"),
            (r#"{"addrs":["x"]}"#, "unknown field `addrs`"),
            (r#"{"socket":{"port":"6379"}}"#, "invalid type: string \"6379\", expected u16"),
            (r#"{"cluster":{"nodes":[]}}"#, "cannot be empty"),
            (r#"{"cluster":{"nodes":"x"}}"#, "must be an array; got \"x\""),
            (r#"{"socket":{"tls":{"cert":"x"}}}"#, "cert needs its key"),
        ] {
            let error = from_json(bad).unwrap_err();
            assert!(error.contains(why), "{bad}: {error}");
        }
        let cluster = from_json(r#"{"cluster":{"nodes":["redis://a:1","redis://b:2"]},"password":"p"}"#).unwrap();
        let RedisOptions::Cluster(cluster) = cluster else { panic!("{cluster:?}") };
        assert!(cluster.seeds.iter().all(|seed| seed.login.password.as_deref() == Some("p")));
    }
}
