//! The environment variables of one output, by what follows their common beginning.

use std::collections::BTreeMap;
use std::time::Duration;

use units::Span;
use wire::settings::Proxies;

use crate::post::Address;

/// The variables that begin so.
pub(crate) struct Variables<'a> {
    prefix: &'static str,
    env: &'a BTreeMap<String, String>,
}

impl<'a> Variables<'a> {
    pub(crate) fn new(prefix: &'static str, env: &'a BTreeMap<String, String>) -> Variables<'a> {
        Variables { prefix, env }
    }

    /// A value; an empty one is none.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.env.get(&format!("{}{name}", self.prefix)).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// A duration above 0.
    pub(crate) fn span(&self, name: &str, standard: Duration) -> Result<Duration, String> {
        let Some(text) = self.text(name) else { return Ok(standard) };
        let wrong = |what: &str| format!("{}{name}: {what}", self.prefix);
        let span = Span::parse(text).map_err(|error| wrong(&error.to_string()))?;
        let span = span.to_duration().filter(|span| !span.is_zero());
        span.ok_or_else(|| wrong(&format!("found '{text}', expected a duration above 0")))
    }

    /// A switch; off when it is not set.
    pub(crate) fn switch(&self, name: &str) -> Result<bool, String> {
        match self.text(name) {
            None => Ok(false),
            Some("true" | "1" | "t" | "T" | "TRUE" | "True") => Ok(true),
            Some("false" | "0" | "f" | "F" | "FALSE" | "False") => Ok(false),
            Some(text) => Err(format!("{}{name}: found '{text}', expected true or false", self.prefix)),
        }
    }

    /// A whole number above 0.
    pub(crate) fn count(&self, name: &str, standard: usize) -> Result<usize, String> {
        let Some(text) = self.text(name) else { return Ok(standard) };
        let number = text.parse().ok().filter(|number| *number > 0);
        number.ok_or_else(|| format!("{}{name}: found '{text}', expected a whole number above 0", self.prefix))
    }

    /// Refuses variables that cannot be obeyed.
    pub(crate) fn refuse(&self, names: &[&str], why: &str) -> Result<(), String> {
        match names.iter().find(|name| self.text(name).is_some()) {
            Some(name) => Err(format!("{}{name}: {why}", self.prefix)),
            None => Ok(()),
        }
    }

    /// A client certificate and its key, from the files that these two name; one without the other is refused.
    pub(crate) fn identify(&self, address: &mut Address, certificate: &str, key: &str) -> Result<(), String> {
        let prefix = self.prefix;
        match (self.text(certificate), self.text(key)) {
            (None, None) => Ok(()),
            (Some(certificate_file), Some(key_file)) => address
                .identify(certificate_file, key_file)
                .map_err(|error| format!("{prefix}{certificate} and {prefix}{key}: {error}")),
            (Some(_), None) => {
                Err(format!("{prefix}{certificate}: found no {prefix}{key}, expected the file of its key"))
            }
            (None, Some(_)) => Err(format!("{prefix}{key}: found no {prefix}{certificate}, expected its certificate")),
        }
    }

    /// The proxies that the environment names, lower case before upper case, as curl and Go read them.
    pub(crate) fn proxies(&self) -> Proxies {
        let find = |name: &str| {
            let found = self.env.get(&name.to_lowercase()).or_else(|| self.env.get(name));
            found.filter(|text| !text.is_empty()).cloned()
        };
        Proxies { http: find("HTTP_PROXY"), https: find("HTTPS_PROXY"), no_proxy: find("NO_PROXY"), even_local: false }
    }

    /// Name and password, token, headers, and whether any certificate will do: as Prometheus's variables name them.
    pub(crate) fn authorise(&self, address: &mut Address) -> Result<(), String> {
        if let (Some(user), password) = (self.text("USERNAME"), self.text("PASSWORD").unwrap_or_default()) {
            address.authorise(user, password);
        }
        if let Some(token) = self.text("BEARER_TOKEN") {
            address.header("Authorization", format!("Bearer {token}"));
        }
        for pair in self.text("HTTP_HEADERS").into_iter().flat_map(|text| text.split(',')) {
            let (name, value) = pair
                .split_once(':')
                .filter(|(name, _)| !name.trim().is_empty())
                .ok_or_else(|| format!("{}HTTP_HEADERS: found '{pair}', expected name:value", self.prefix))?;
            address.header(name.trim(), value.trim());
        }
        let beginning = format!("{}HEADERS_", self.prefix);
        for (variable, value) in self.env.range(beginning.clone()..) {
            let Some(name) = variable.strip_prefix(&beginning) else { break };
            address.header(name, value);
        }
        address.tls.insecure_skip_verify = self.switch("INSECURE_SKIP_TLS_VERIFY")?;
        Ok(())
    }
}
