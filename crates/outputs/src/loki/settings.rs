//! What follows `loki=`: `URL,key=value,…`.

use std::time::Duration;

use units::{Span, suggest};

use crate::post::Address;

/// What it says.
pub(crate) struct LokiSettings {
    pub(crate) address: Address,
    /// Labels of every line, in order.
    pub(crate) labels: Vec<(String, String)>,
    /// Lines of a period at most.
    pub(crate) limit: usize,
    /// The least grave level that is pushed; all without one.
    level: Option<usize>,
    /// Between two pushes.
    pub(crate) every: Duration,
    /// Bytes of a line at most.
    pub(crate) most: usize,
    /// Fields that become labels; without a list all of them.
    pub(crate) allowed: Option<Vec<String>>,
    /// Whether the end tells of the pushes.
    pub(crate) profile: bool,
}

const KEYS: [&str; 8] =
    ["label.NAME", "limit", "level", "pushPeriod", "profile", "msgMaxSize", "allowedLabels", "header.NAME"];

/// logrus's levels, gravest first.
const LEVELS: [&str; 7] = ["panic", "fatal", "error", "warning", "info", "debug", "trace"];

const STANDARD: &str = "http://127.0.0.1:3100/loki/api/v1/push";

impl LokiSettings {
    pub(crate) fn read(argument: &str) -> Result<LokiSettings, String> {
        let mut parts = split(argument).into_iter();
        let url = parts.next().filter(|url| !url.is_empty()).unwrap_or(STANDARD);
        let mut settings = LokiSettings {
            address: Address::new("the URL", url, Duration::from_secs(10))?,
            labels: Vec::new(),
            limit: 100,
            level: None,
            every: Duration::from_secs(1),
            most: 1 << 20,
            allowed: None,
            profile: false,
        };
        settings.address.header("Content-Type", "application/json");
        parts.try_for_each(|part| settings.set(part))?;
        Ok(settings)
    }

    fn set(&mut self, part: &str) -> Result<(), String> {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        if let Some(label) = key.strip_prefix("label.").filter(|label| !label.is_empty()) {
            self.labels.push((label.to_owned(), value.to_owned()));
            return Ok(());
        }
        if let Some(header) = key.strip_prefix("header.").filter(|header| !header.is_empty()) {
            self.address.header(header, value);
            return Ok(());
        }
        match key {
            "limit" => self.limit = whole(key, value)?,
            "msgMaxSize" => self.most = whole(key, value)?,
            "pushPeriod" => self.every = span(value)?,
            "level" => self.level = Some(level(value)?),
            "profile" => self.profile = value != "false",
            "allowedLabels" => self.allowed = Some(list(value)?),
            _ => {
                let hint = suggest::hint(key, KEYS);
                return Err(format!("unknown key '{key}'{hint}, expected one of {}", KEYS.join(", ")));
            }
        }
        Ok(())
    }

    /// Whether lines of this level are pushed.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.level.is_none_or(|least| level(name).is_ok_and(|level| level <= least))
    }

    /// Until a push counts as failed.
    pub(crate) fn timeout(&self) -> Duration {
        self.address.timeout
    }
}

/// Parts between commas; those in brackets belong to a list.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    text.split(|char: char| {
        match char {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        char == ',' && depth == 0
    })
    .collect()
}

fn whole(key: &str, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{key}: found '{text}', expected a whole number above 0"))
}

fn span(text: &str) -> Result<Duration, String> {
    let span = Span::parse(text).map_err(|error| format!("pushPeriod: {error}"))?;
    let span = span.to_duration().filter(|span| !span.is_zero());
    span.ok_or_else(|| format!("pushPeriod: found '{text}', expected a duration above 0"))
}

fn level(name: &str) -> Result<usize, String> {
    let name = if name == "warn" { "warning" } else { name };
    let at = LEVELS.iter().position(|level| *level == name);
    at.ok_or_else(|| format!("level: found '{name}', expected one of {}", LEVELS.join(", ")))
}

fn list(text: &str) -> Result<Vec<String>, String> {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inside = inside.ok_or_else(|| format!("allowedLabels: found '{text}', expected [name,name]"))?;
    Ok(inside.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_read() {
        let settings = LokiSettings::read(
            "http://h:1/push,label.a=b,label.c=d=e,limit=7,level=warn,pushPeriod=2s,msgMaxSize=10,\
             allowedLabels=[level,source],header.X-A=b,profile",
        )
        .unwrap();
        assert_eq!(settings.address.url, "http://h:1/push");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(settings.labels, [pair("a", "b"), pair("c", "d=e")]);
        assert_eq!((settings.limit, settings.most, settings.every), (7, 10, Duration::from_secs(2)));
        assert_eq!(settings.allowed.as_deref(), Some(&["level".to_owned(), "source".to_owned()][..]));
        assert_eq!(settings.address.headers[1], pair("X-A", "b"));
        assert!(settings.profile && settings.takes("error") && settings.takes("warning") && !settings.takes("info"));
        let standard = LokiSettings::read("").unwrap();
        assert_eq!(standard.address.url, STANDARD);
        assert!(standard.takes("debug"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |text: &str| LokiSettings::read(text).map(|_| ()).unwrap_err();
        let expected = "the URL: found 'ftp://h/', expected a URL that begins with http:// or https://";
        assert_eq!(wrong("ftp://h/"), expected);
        assert_eq!(wrong(",limit=0"), "limit: found '0', expected a whole number above 0");
        assert_eq!(wrong(",allowedLabels=a"), "allowedLabels: found 'a', expected [name,name]");
        assert_eq!(wrong(",pushPeriod=0"), "pushPeriod: found '0', expected a duration above 0");
        assert!(wrong(",level=loud").starts_with("level: found 'loud', expected one of panic, fatal"));
        assert!(wrong(",limt=1").starts_with("unknown key 'limt'; did you mean 'limit'?, expected one of label.NAME"));
    }
}
