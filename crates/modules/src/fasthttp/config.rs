//! What `new Client(config)` is given, and the network settings it makes of those of the run.
//!
//! Names and defaults are those of the extension. Times are seconds; 0 means no limit, for `dial_timeout` the default.
//! Options of the run (`hosts`, `dns`, `blacklistIPs`, `tlsAuth` …) hold for these clients too. Refused: values of
//! another type, negative times, half of a certificate.

use std::sync::Arc;
use std::time::Duration;

use host::bytes;
use host::js::{Ctx, Exception, Object, Result, Value};
use wire::Settings;
use wire::settings::{ClientIdentity, Proxies, StepLimits};

use script::Vu;
use script::arguments::member;
use script::disk::Unopened;

const DEFAULT_DIAL: Duration = Duration::from_secs(5);

/// Longer times are endless for any test.
const LONGEST_S: f64 = 1e9;

/// A client's configuration, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Until a connection is open.
    pub dial: Duration,
    /// Until a response is here, from when its request is out.
    pub read: Option<Duration>,
    /// Until a request is out.
    pub write: Option<Duration>,
    /// A connection older than this carries no further request.
    pub oldest_connection: Option<Duration>,
    /// `[user:password@]host:port` of an HTTP proxy.
    pub proxy: Option<String>,
    /// User-Agent, when it is not the run's.
    pub user_agent: Option<String>,
    /// Accept any certificate.
    pub insecure: bool,
    /// Client certificate.
    pub identity: Option<Arc<ClientIdentity>>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            dial: DEFAULT_DIAL,
            read: None,
            write: None,
            oldest_connection: None,
            proxy: None,
            user_agent: None,
            insecure: false,
            identity: None,
        }
    }
}

impl Config {
    /// Reads the argument of the constructor; throws what is wrong with it.
    pub fn from_js<'js>(ctx: &Ctx<'js>, vu: &Vu, value: Option<&Value<'js>>) -> Result<Config> {
        let mut config = Config::default();
        let Some(value) = value.filter(|value| !value.is_undefined() && !value.is_null()) else { return Ok(config) };
        let Some(object) = value.as_object() else {
            return Err(wrong(ctx, &format!("the config is of type {}, expected an object", value.type_name())));
        };
        config.dial = seconds(ctx, object, "dial_timeout")?.unwrap_or(DEFAULT_DIAL);
        config.read = seconds(ctx, object, "read_timeout")?;
        config.write = seconds(ctx, object, "write_timeout")?;
        config.oldest_connection = seconds(ctx, object, "max_conn_duration")?;
        config.proxy = text(ctx, object, "proxy")?;
        config.user_agent = text(ctx, object, "user_agent")?;
        if let Some(problem) = config.user_agent.as_deref().and_then(wire::field::problem_in) {
            return Err(wrong(ctx, &format!("user_agent: {problem}")));
        }
        // Of no use here, but a mistake in them should not pass.
        for name in ["read_buffer_size", "write_buffer_size", "max_conns_per_host"] {
            number(ctx, object, name)?;
        }
        if let Some(tls) = member(object, "tls_config")? {
            let Some(tls) = tls.as_object() else {
                return Err(wrong(ctx, &format!("tls_config is of type {}, expected an object", tls.type_name())));
            };
            config.read_tls(ctx, vu, tls)?;
        }
        Ok(config)
    }

    fn read_tls<'js>(&mut self, ctx: &Ctx<'js>, vu: &Vu, tls: &Object<'js>) -> Result<()> {
        if let Some(flag) = member(tls, "insecure_skip_verify")? {
            self.insecure = flag.as_bool().ok_or_else(|| {
                wrong(ctx, &format!("insecure_skip_verify is of type {}, expected a boolean", flag.type_name()))
            })?;
        }
        self.identity = match (pem(ctx, vu, tls, "certificate")?, pem(ctx, vu, tls, "private_key")?) {
            (Some(certificate), Some(key)) => {
                let identity = ClientIdentity::read(Vec::new(), &certificate, &key, None);
                Some(Arc::new(identity.map_err(|problem| wrong(ctx, &format!("tls_config: {problem}")))?))
            }
            (None, None) => None,
            _ => return Err(wrong(ctx, "tls_config has one of certificate and private_key, expected both")),
        };
        Ok(())
    }

    /// The settings of a client in a run with these settings.
    pub fn settings(&self, run: Settings) -> Settings {
        let mut settings = run;
        settings.http2 = false;
        settings.limits = StepLimits { dial: self.dial, write: self.write, read: self.read };
        settings.tls.insecure_skip_verify |= self.insecure;
        if let Some(agent) = &self.user_agent {
            settings.user_agent.clone_from(agent);
        }
        if let Some(proxy) = &self.proxy {
            let proxy = Some(proxy.clone());
            settings.proxies = Proxies { http: proxy.clone(), https: proxy, no_proxy: None, even_local: true };
        }
        if let Some(identity) = &self.identity {
            settings.tls.identities.insert(0, identity.clone());
        }
        settings
    }
}

fn wrong(ctx: &Ctx<'_>, message: &str) -> host::js::Error {
    Exception::throw_type(ctx, &format!("fasthttp Client: {message}"))
}

fn number<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str) -> Result<Option<f64>> {
    let Some(value) = member(object, name)? else { return Ok(None) };
    match value.as_number() {
        Some(number) if number >= 0.0 => Ok(Some(number)),
        Some(number) => Err(wrong(ctx, &format!("{name} is {number}, expected 0 or more"))),
        None => Err(wrong(ctx, &format!("{name} is of type {}, expected a number", value.type_name()))),
    }
}

/// A time; 0 means none.
fn seconds<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str) -> Result<Option<Duration>> {
    let seconds = number(ctx, object, name)?.unwrap_or(0.0);
    Ok((seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(LONGEST_S))))
}

/// A text; an empty one means none.
fn text<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str) -> Result<Option<String>> {
    let Some(value) = member(object, name)? else { return Ok(None) };
    match bytes::text(&value)? {
        Some(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        None => Err(wrong(ctx, &format!("{name} is of type {}, expected a string", value.type_name()))),
    }
}

/// PEM text, or that of the file it names.
fn pem<'js>(ctx: &Ctx<'js>, vu: &Vu, tls: &Object<'js>, name: &str) -> Result<Option<String>> {
    let Some(given) = text(ctx, tls, name)? else { return Ok(None) };
    if given.contains("-----BEGIN") {
        return Ok(Some(given));
    }
    let path = script::paths::absolute(ctx, vu, &given);
    let unreadable = |why: &dyn std::fmt::Display| {
        wrong(ctx, &format!("{name} is neither PEM text nor a file that can be read: {}: {why}", path.display()))
    };
    let file = vu.shared().disk().open(&path).map_err(|unopened| match unopened {
        Unopened::Failed(error) => unreadable(&error),
        Unopened::Directory | Unopened::Special => unreadable(&"it is not a regular file"),
    })?;
    std::io::read_to_string(file).map(Some).map_err(|error| unreadable(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_keep_what_the_run_says() {
        let mut run = Settings { user_agent: String::from("run"), ..Settings::default() };
        run.tls.insecure_skip_verify = true;
        let plain = Config::default().settings(run.clone());
        assert_eq!((plain.user_agent.as_str(), plain.tls.insecure_skip_verify), ("run", true));
        assert_eq!(plain.limits, StepLimits { dial: DEFAULT_DIAL, write: None, read: None });
        assert_eq!(plain.proxies, run.proxies);
        let own = Config {
            proxy: Some(String::from("proxy:3128")),
            user_agent: Some(String::from("own")),
            read: Some(Duration::from_secs(2)),
            ..Config::default()
        };
        let own = own.settings(run);
        assert_eq!(own.user_agent, "own");
        assert_eq!((own.proxies.http.as_deref(), own.proxies.even_local), (Some("proxy:3128"), true));
        assert_eq!(own.limits.read, Some(Duration::from_secs(2)));
    }
}
