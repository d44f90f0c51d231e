//! Posts bodies to one address, with the client of `wire`: its connection is kept, and of an answer the head alone, so
//! that a receiver cannot fill the memory of the generator.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use wire::request::{Auth, BodyUse};
use wire::settings::{ClientIdentity, Proxies, TlsSettings};
use wire::{Client, ClientContext, Method, Payload, Request, Settings, Url};

/// Where to and how, as an output's settings say it. May go to another thread.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// An http or https URL; userinfo in it is sent as Basic authentication.
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    /// For one request, its answer included.
    pub(crate) timeout: Duration,
    pub(crate) tls: TlsSettings,
    pub(crate) proxies: Proxies,
}

impl Address {
    /// Checks the URL. `name`: what it is called where it comes from.
    pub(crate) fn new(name: &str, url: &str, timeout: Duration) -> Result<Address, String> {
        check(url).map_err(|why| format!("{name}: {why}"))?;
        let (tls, proxies) = Default::default();
        Ok(Address { url: url.to_owned(), headers: Vec::new(), timeout, tls, proxies })
    }

    /// Adds a header of every request.
    pub(crate) fn header(&mut self, name: &str, value: impl Into<String>) {
        self.headers.push((name.to_owned(), value.into()));
    }

    /// Adds name and password as Basic authentication.
    pub(crate) fn authorise(&mut self, user: &str, password: &str) {
        let packed = base64_simd::STANDARD.encode_to_string(format!("{user}:{password}"));
        self.header("Authorization", format!("Basic {packed}"));
    }

    /// Reads a client certificate and its key from files.
    pub(crate) fn identify(&mut self, certificate: &str, key: &str) -> Result<(), String> {
        let read = |path: &str| std::fs::read_to_string(path).map_err(|error| format!("cannot read '{path}': {error}"));
        let identity = ClientIdentity::read(Vec::new(), &read(certificate)?, &read(key)?, None)?;
        self.tls.identities = vec![Arc::new(identity)];
        Ok(())
    }

    /// The settings of its client.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::new(Settings {
            tls: self.tls.clone(),
            proxies: self.proxies.clone(),
            user_agent: String::from("Onrush"),
            ..Settings::default()
        })
    }
}

/// A URL of HTTP.
pub(crate) fn check(url: &str) -> Result<Url, String> {
    let is_http = url.starts_with("http://") || url.starts_with("https://");
    if !is_http {
        return Err(format!("found '{url}', expected a URL that begins with http:// or https://"));
    }
    Url::parse(url).map_err(|error| error.message)
}

/// Posts. Belongs to one thread, with an event loop there.
pub(crate) struct Poster {
    client: Client,
    address: Address,
    url: Url,
    headers: Rc<[(String, String)]>,
}

impl Poster {
    pub(crate) fn new(address: Address) -> Result<Poster, String> {
        let context = ClientContext::new(address.settings()).map_err(|error| error.message)?;
        let url = Url::parse(&address.url).map_err(|error| error.message)?;
        let headers = address.headers.clone().into();
        Ok(Poster { client: Client::new(context), address, url, headers })
    }

    /// Posts a body; why it did not get there or was not wanted.
    pub(crate) async fn post(&self, body: Vec<u8>) -> Result<(), String> {
        self.post_to(self.url.clone(), body).await
    }

    /// The same to another URL of the receiver.
    pub(crate) async fn post_to(&self, url: Url, body: Vec<u8>) -> Result<(), String> {
        let request = Request {
            method: Method::Post,
            url,
            headers: self.headers.clone(),
            cookies: Rc::from([]),
            body: Some(Payload::from_bytes(body)),
            timeout: Some(self.address.timeout),
            max_redirects: 0,
            auth: Auth::FromUserinfo,
            // Whatever is answered, however much: it is not kept.
            body_use: BodyUse::Discard,
            prior_knowledge: false,
            tls: None,
        };
        let exchange = self.client.send(&request, None, &mut |_| {}).await;
        let shown = &request.url.text;
        match exchange.outcome {
            Ok(response) if (200..300).contains(&response.status) => Ok(()),
            Ok(response) => {
                // InfluxDB says there what it says in the body.
                let said = response.header("X-Influxdb-Error").map(|text| String::from_utf8_lossy(text).into_owned());
                let said = said.map(|text| format!(": {text}")).unwrap_or_default();
                Err(format!("{shown} answered {} {}{said}", response.status, response.reason()))
            }
            Err(failure) => Err(format!("{shown}: {failure}")),
        }
    }
}
