//! Secrets that an HTTP server keeps: `--secret-source=url=urlTemplate=https://host/v1/{key},headers.X-Token=…`.
//!
//! Asked outside of the test: no metric counts these requests. Each answer is remembered for the run.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use wire::request::{Auth, BodyUse};
use wire::{Body, Client, ClientContext, Method, Request, Url};

use super::source::Parts;
use crate::json_path::Selector;

const SETTINGS: &str = "urlTemplate, method, headers.NAME, timeout or responsePath";
type MakeMethod = fn() -> Method;

/// Methods that a source may ask with. Made where they are needed, because a `Method` stays on its thread.
const METHODS: [(&str, MakeMethod); 3] = [("GET", || Method::Get), ("POST", || Method::Post), ("PUT", || Method::Put)];

const TIMEOUT: Duration = Duration::from_secs(30);
const MOST_REDIRECTS: u32 = 10;

/// Where and how to ask.
pub(crate) struct UrlSource {
    template: String,
    method: MakeMethod,
    headers: Vec<(String, String)>,
    timeout: Duration,
    /// Where the secret is in an answer of JSON; the whole answer without it.
    path: Option<String>,
    known: Mutex<BTreeMap<String, String>>,
}

impl UrlSource {
    /// The source that a configuration says.
    pub(super) fn read(parts: &Parts<'_>) -> Result<UrlSource, String> {
        let mut source = UrlSource {
            template: String::new(),
            method: || Method::Get,
            headers: Vec::new(),
            timeout: TIMEOUT,
            path: None,
            known: Mutex::default(),
        };
        for (name, value) in parts {
            let value =
                value.ok_or_else(|| format!("'{name}' has no value, expected urlTemplate=http://host/{{key}}"))?;
            match *name {
                "urlTemplate" => source.template = value.to_owned(),
                "method" => {
                    let known = METHODS.iter().find(|(name, _)| name.eq_ignore_ascii_case(value));
                    let known = known.ok_or_else(|| format!("method is '{value}', expected GET, POST or PUT"))?;
                    source.method = known.1;
                }
                "timeout" => {
                    let read = units::Span::parse(value).ok().and_then(units::Span::to_duration);
                    source.timeout = read.ok_or_else(|| format!("timeout is '{value}', expected one such as 5s"))?;
                }
                "responsePath" => source.path = Some(value.to_owned()),
                name => match name.strip_prefix("headers.") {
                    Some(header) => source.headers.push((header.to_owned(), value.to_owned())),
                    None => return Err(format!("'{name}' is no setting, expected {SETTINGS}")),
                },
            }
        }
        if source.template.is_empty() {
            return Err(String::from("urlTemplate is missing, expected urlTemplate=http://host/{key}"));
        }
        if !source.template.contains("{key}") {
            return Err(String::from("urlTemplate has no {key}, which stands for the secret's name"));
        }
        Ok(source)
    }

    /// What was fetched before.
    pub(crate) fn remembered(&self, key: &str) -> Option<String> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Asks the server.
    pub(crate) async fn fetch(&self, key: &str, context: Rc<ClientContext>) -> Result<String, String> {
        let failed = |why: &str| format!("cannot get the secret '{key}': {why}");
        let encoded = utf8_percent_encode(key, NON_ALPHANUMERIC).to_string();
        let url = Url::parse(&self.template.replace("{key}", &encoded)).map_err(|error| failed(&error.message))?;
        let request = Request {
            method: (self.method)(),
            url,
            headers: self.headers.clone().into(),
            cookies: Rc::from([]),
            body: None,
            timeout: Some(self.timeout),
            max_redirects: MOST_REDIRECTS,
            auth: Auth::FromUserinfo,
            body_use: BodyUse::Keep,
            prior_knowledge: false,
        };
        let client = Client::new(context);
        let exchange = client.send(&request, None, &mut |_| {}).await;
        client.close_idle();
        let response = exchange.outcome.map_err(|failure| failed(&failure.message))?;
        if !(200..300).contains(&response.status) {
            return Err(failed(&format!("the server answered with status {}", response.status)));
        }
        let bytes = match response.body {
            Body::Kept(bytes) => bytes,
            _ => Default::default(),
        };
        let secret = self.secret_in(&bytes).map_err(|why| failed(&why))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key.to_owned(), secret.clone());
        Ok(secret)
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
