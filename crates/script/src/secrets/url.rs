//! Secrets that an HTTP server keeps: `--secret-source=url=urlTemplate=https://host/v1/{key},headers.X-Token=…`.
//!
//! The settings may stand in a file of JSON instead, `url=config=secrets.json`, or in the environment,
//! `K6_SECRET_SOURCE_URL_URL_TEMPLATE` and so on. As in k6, the flag comes before the file, the file before the
//! environment, and headers of one of them take the place of all headers of the next. Asked outside of the test: no
//! metric counts these requests. Each answer is remembered for the run. As in k6, a server that fails is asked again,
//! and no more than so many requests go out in a minute.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use wire::request::{Auth, BodyUse};
use wire::{Body, Client, ClientContext, Method, Request, Response, Url};

use super::source::Parts;
use crate::json_path::Selector;

const SETTINGS: &str = "config, urlTemplate, method, headers.NAME, timeout, responsePath, maxRetries, retryBackoff, \
    requestsPerMinuteLimit or requestsBurst";

/// Settings, and the variables of the environment that say them.
const VARIABLES: [(&str, &str); 8] = [
    ("urlTemplate", "K6_SECRET_SOURCE_URL_URL_TEMPLATE"),
    ("method", "K6_SECRET_SOURCE_URL_METHOD"),
    ("timeout", "K6_SECRET_SOURCE_URL_TIMEOUT"),
    ("responsePath", "K6_SECRET_SOURCE_URL_RESPONSE_PATH"),
    ("maxRetries", "K6_SECRET_SOURCE_URL_MAX_RETRIES"),
    ("retryBackoff", "K6_SECRET_SOURCE_URL_RETRY_BACKOFF"),
    ("requestsPerMinuteLimit", "K6_SECRET_SOURCE_URL_REQUESTS_PER_MINUTE_LIMIT"),
    ("requestsBurst", "K6_SECRET_SOURCE_URL_REQUESTS_BURST"),
];

/// The name of a header follows.
const HEADER_VARIABLE: &str = "K6_SECRET_SOURCE_URL_HEADER_";

const TIMEOUT: Duration = Duration::from_secs(30);
const MOST_REDIRECTS: u32 = 10;

/// Where and how to ask.
pub struct UrlSource {
    template: String,
    /// In capitals.
    method: String,
    headers: Vec<(String, String)>,
    timeout: Duration,
    /// Where the secret is in an answer of JSON; the whole answer without it.
    path: Option<String>,
    retries: u32,
    /// Before the first repetition; doubled for each further one.
    backoff: Duration,
    rate: RequestRate,
    known: Mutex<BTreeMap<String, String>>,
}

/// How often the server may be asked: a bucket of requests that fills up again.
struct RequestRate {
    /// Until one more request may go out.
    interval: Duration,
    burst: u32,
    /// When the bucket would be full.
    full_at: Mutex<Option<Instant>>,
}

impl RequestRate {
    fn new(per_minute: u32, burst: u32) -> RequestRate {
        RequestRate { interval: Duration::from_secs(60) / per_minute, burst, full_at: Mutex::default() }
    }

    /// Takes a request out of the bucket; how long to wait until it is there.
    fn take(&self, now: Instant) -> Duration {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let full = full_at.unwrap_or(now).max(now) + self.interval;
        *full_at = Some(full);
        (full - now).saturating_sub(self.interval * self.burst)
    }
}

impl UrlSource {
    /// The source that a configuration says.
    pub(super) fn read(parts: &Parts<'_>, environment: &BTreeMap<String, String>) -> Result<UrlSource, String> {
        let mut source = UrlSource {
            template: String::new(),
            method: String::from("GET"),
            headers: Vec::new(),
            timeout: TIMEOUT,
            path: None,
            retries: 3,
            backoff: Duration::from_secs(1),
            rate: RequestRate::new(300, 10),
            known: Mutex::default(),
        };
        let (mut per_minute, mut burst) = (300, 10);
        for (name, value) in settings(parts, environment)? {
            let value = value.as_str();
            match name.as_str() {
                "urlTemplate" => source.template = value.to_owned(),
                "method" if is_method(value) => source.method = value.to_ascii_uppercase(),
                "method" => return Err(format!("method is '{value}', expected one such as GET or POST")),
                "timeout" => source.timeout = time(&name, value)?,
                "retryBackoff" => source.backoff = time(&name, value)?,
                "maxRetries" => source.retries = count(&name, value, 0)?,
                "requestsPerMinuteLimit" => per_minute = count(&name, value, 1)?,
                "requestsBurst" => burst = count(&name, value, 1)?,
                "responsePath" => source.path = Some(value.to_owned()),
                name => match name.strip_prefix("headers.") {
                    Some(header) => source.headers.push((header.to_owned(), value.to_owned())),
                    None => return Err(format!("'{name}' is no setting, expected {SETTINGS}")),
                },
            }
        }
        source.rate = RequestRate::new(per_minute, burst);
        if source.template.is_empty() {
            return Err(String::from("urlTemplate is missing, expected urlTemplate=http://host/{key}"));
        }
        if !source.template.contains("{key}") {
            return Err(String::from("urlTemplate has no {key}, which stands for the secret's name"));
        }
        Ok(source)
    }

    /// What was fetched before.
    pub fn remembered(&self, key: &str) -> Option<String> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Asks the server.
    pub async fn fetch(&self, key: &str, context: Rc<ClientContext>) -> Result<String, String> {
        let failed = |why: &str| format!("cannot get the secret '{key}': {why}");
        let url = Url::parse(&self.template.replace("{key}", key)).map_err(|error| failed(&error.message))?;
        let request = Request {
            method: Method::of(&self.method),
            url,
            headers: self.headers.clone().into(),
            cookies: Rc::from([]),
            body: None,
            timeout: Some(self.timeout),
            max_redirects: MOST_REDIRECTS,
            auth: Auth::FromUserinfo,
            body_use: BodyUse::Keep,
            prior_knowledge: false,
            tls: None,
        };
        let client = Client::new(context);
        let answered = self.ask(&client, &request).await;
        client.close_idle();
        let response = answered.map_err(|why| failed(&why))?;
        let bytes = match response.body {
            Body::Kept(bytes) => bytes,
            _ => Default::default(),
        };
        let secret = self.secret_in(&bytes).map_err(|why| failed(&why))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key.to_owned(), secret.clone());
        Ok(secret)
    }

    /// Asks again what failed for the moment: no answer, 429, or an error of the server.
    async fn ask(&self, client: &Client, request: &Request) -> Result<Response, String> {
        let mut repeated = 0;
        loop {
            tokio::time::sleep(self.rate.take(Instant::now())).await;
            let exchange = client.send(request, None, &mut |_| {}).await;
            let (why, is_passing) = match exchange.outcome {
                Ok(response) if (200..300).contains(&response.status) => return Ok(response),
                Ok(Response { status, .. }) => {
                    (format!("the server answered with status {status}"), status == 429 || status >= 500)
                }
                Err(failure) => (failure.message, true),
            };
            if !is_passing || repeated == self.retries {
                return Err(why);
            }
            tokio::time::sleep(self.backoff.saturating_mul(1 << repeated.min(16))).await;
            repeated += 1;
        }
    }

    fn secret_in(&self, answer: &[u8]) -> Result<String, String> {
        let Some(path) = &self.path else { return Ok(String::from_utf8_lossy(answer).into_owned()) };
        let absent = || format!("the answer has nothing at '{path}'");
        let selector = Selector::parse(path)?.ok_or_else(absent)?;
        let found = selector.find(answer).ok().flatten().ok_or_else(absent)?;
        let value: serde_json::Value = serde_json::from_slice(&found).map_err(|_| absent())?;
        Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

/// Names and values of all settings: those of the flag, then of the file that `config` names, then of the environment,
/// each without what an earlier one says.
fn settings(parts: &Parts<'_>, environment: &BTreeMap<String, String>) -> Result<Vec<(String, String)>, String> {
    let (mut all, mut file) = (Vec::new(), Vec::new());
    for (name, value) in parts {
        let value = value.ok_or_else(|| format!("'{name}' has no value, expected urlTemplate=http://host/{{key}}"))?;
        match *name {
            "config" => file = of_file(value)?,
            name => all.push((name.to_owned(), value.to_owned())),
        }
    }
    for later in [file, of_environment(environment)] {
        let kind = |name: &str| if name.starts_with("headers.") { "headers.".to_owned() } else { name.to_owned() };
        let said: Vec<String> = all.iter().map(|(name, _)| kind(name)).collect();
        all.extend(later.into_iter().filter(|(name, _)| !said.contains(&kind(name))));
    }
    Ok(all)
}

/// The settings in variables of the environment. An empty one says nothing.
fn of_environment(environment: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let plain = VARIABLES
        .iter()
        .filter_map(|(name, variable)| environment.get(*variable).map(|value| ((*name).to_owned(), value.clone())));
    let headers = environment.iter().filter_map(|(variable, value)| {
        let header = variable.strip_prefix(HEADER_VARIABLE).filter(|header| !header.is_empty())?;
        Some((format!("headers.{header}"), value.clone()))
    });
    plain.chain(headers).filter(|(_, value)| !value.is_empty()).collect()
}

fn is_method(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
}

/// The settings in a file of JSON; `headers` is an object there.
fn of_file(path: &str) -> Result<Vec<(String, String)>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("config: cannot read {path}: {error}"))?;
    let read: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).map_err(|error| {
        format!("config: {path}:{}:{}: {error}, expected an object of settings", error.line(), error.column())
    })?;
    let plain = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut settings = Vec::new();
    for (name, value) in &read {
        match value.as_object().filter(|_| name == "headers") {
            Some(headers) => settings.extend(headers.iter().map(|(h, value)| (format!("headers.{h}"), plain(value)))),
            None => settings.push((name.clone(), plain(value))),
        }
    }
    Ok(settings)
}

fn time(name: &str, value: &str) -> Result<Duration, String> {
    let read = units::Span::parse(value).ok().and_then(units::Span::to_duration);
    read.ok_or_else(|| format!("{name} is '{value}', expected one such as 5s"))
}

fn count(name: &str, value: &str, least: u32) -> Result<u32, String> {
    let read = value.parse().ok().filter(|number| *number >= least);
    read.ok_or_else(|| format!("{name} is '{value}', expected a whole number from {least} on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_goes_out_at_once_and_the_rest_by_the_minute() {
        let (rate, now) = (RequestRate::new(60, 2), Instant::now());
        let waits: Vec<u64> = (0..4).map(|_| rate.take(now).as_secs()).collect();
        assert_eq!(waits, [0, 0, 1, 2]);
        assert_eq!(rate.take(now + Duration::from_secs(60)).as_secs(), 0);
    }

    #[test]
    fn the_flag_comes_before_the_file_and_the_file_before_the_environment() {
        let environment = [
            ("URL_TEMPLATE", "http://env/{key}"),
            ("METHOD", "patch"),
            ("MAX_RETRIES", "7"),
            ("RESPONSE_PATH", "a.b"),
            ("TIMEOUT", ""),
            ("HEADER_X-A", "env"),
            ("HEADER_X-B", "env"),
            ("HEADER_", "no name"),
            ("OTHER", "no setting"),
        ];
        let environment = environment.map(|(name, value)| (format!("K6_SECRET_SOURCE_URL_{name}"), value.to_owned()));
        let environment = BTreeMap::from(environment);
        let path = std::env::temp_dir().join(format!("onrush-secrets-{}.json", std::process::id()));
        std::fs::write(&path, r#"{ "urlTemplate": "http://h/{key}", "headers": { "X-A": "b" }, "maxRetries": 2 }"#)
            .unwrap();
        let path = path.to_str().unwrap();
        let flag = [("config", Some(path)), ("maxRetries", Some("5"))].into();
        let source = UrlSource::read(&flag, &environment).unwrap();
        assert_eq!((source.template.as_str(), source.retries), ("http://h/{key}", 5));
        assert_eq!(source.headers, [(String::from("X-A"), String::from("b"))]);
        assert_eq!((source.method.as_str(), source.path.as_deref()), ("PATCH", Some("a.b")));
        let source = UrlSource::read(&Vec::new(), &environment).unwrap();
        assert_eq!((source.template.as_str(), source.retries), ("http://env/{key}", 7));
        assert_eq!(source.headers, [(String::from("X-A"), String::from("env")), (String::from("X-B"), "env".into())]);
        std::fs::remove_file(path).unwrap();
        let refused =
            |parts: &[(&str, Option<&str>)]| UrlSource::read(&parts.to_vec(), &BTreeMap::new()).err().unwrap();
        assert_eq!(refused(&[("requestsBurst", Some("0"))]), "requestsBurst is '0', expected a whole number from 1 on");
        assert!(refused(&[("config", Some("/nonexistent.json"))]).starts_with("config: cannot read /nonexistent.json"));
    }
}
