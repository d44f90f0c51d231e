//! What options say about host names: which are never connected to, and which lead to fixed addresses.
//!
//! Refused: patterns with a `*` elsewhere than at the start, and addresses that are none. Pure.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// Names of hosts with at most one leading `*`.
#[derive(Debug, Default)]
pub struct HostPatterns(Vec<String>);

impl HostPatterns {
    /// Reads patterns. The error says what was found and what was expected.
    pub fn read(patterns: &[String]) -> Result<HostPatterns, String> {
        patterns.iter().try_for_each(|pattern| check_pattern(pattern))?;
        Ok(HostPatterns(patterns.iter().map(|pattern| pattern.to_ascii_lowercase()).collect()))
    }

    /// The pattern that means this name, which is lower case.
    pub(crate) fn find(&self, host: &str) -> Option<&str> {
        self.0.iter().map(String::as_str).find(|pattern| matches(pattern, host))
    }
}

/// Fixed addresses of host names: `host`, `host:port` or `*.host` leads to an IP, `ip:port`, `unix:/path` or
/// `unix:@name`.
#[derive(Debug, Default)]
pub struct FixedHosts {
    exact: HashMap<String, Fixed>,
    /// Patterns with a leading `*`, the longest first.
    wild: Vec<(String, Fixed)>,
}

/// Where a name leads.
#[derive(Debug)]
pub(crate) enum Fixed {
    /// The port of the URL where there is none.
    Ip(IpAddr, Option<u16>),
    /// A path, or `@name`.
    Unix(PathBuf),
}

impl FixedHosts {
    /// Reads names with their addresses. The error says what was found and what was expected.
    pub fn read(hosts: &BTreeMap<String, String>) -> Result<FixedHosts, String> {
        let mut map = FixedHosts::default();
        for (pattern, value) in hosts {
            check_pattern(pattern)?;
            let fixed = Fixed::parse(value).ok_or_else(|| {
                format!("{pattern:?} leads to {value:?}, expected an IP address, ip:port, unix:/path or unix:@name")
            })?;
            let pattern = pattern.to_ascii_lowercase();
            if pattern.starts_with('*') {
                map.wild.push((pattern, fixed));
            } else {
                map.exact.insert(pattern, fixed);
            }
        }
        map.wild.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
        Ok(map)
    }

    /// A pattern with the port wins over one without, an exact name over a wildcard.
    pub(crate) fn find(&self, host: &str, port: u16) -> Option<&Fixed> {
        if self.exact.is_empty() && self.wild.is_empty() {
            return None;
        }
        let with_port = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        self.find_name(&with_port).or_else(|| self.find_name(host))
    }

    fn find_name(&self, name: &str) -> Option<&Fixed> {
        let wild = || self.wild.iter().find(|(pattern, _)| matches(pattern, name)).map(|(_, fixed)| fixed);
        self.exact.get(name).or_else(wild)
    }
}

impl Fixed {
    fn parse(text: &str) -> Option<Fixed> {
        if let Some(path) = text.strip_prefix("unix:") {
            return is_socket_name(path).then(|| Fixed::Unix(PathBuf::from(path)));
        }
        let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
        let with_port = || text.parse::<SocketAddr>().ok().map(|a| Fixed::Ip(a.ip(), Some(a.port())));
        bare.parse::<IpAddr>().ok().map(|ip| Fixed::Ip(ip, None)).or_else(with_port)
    }
}

/// An absolute path, or `@` and a name: relative paths would lead elsewhere from another directory.
fn is_socket_name(text: &str) -> bool {
    text.starts_with('/') || text.strip_prefix('@').is_some_and(|name| !name.is_empty())
}

/// Whether a name is meant by a lower-case pattern with at most one leading `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => name.len() > end.len() && name.ends_with(end),
        None => pattern == name,
    }
}

fn check_pattern(pattern: &str) -> Result<(), String> {
    let rest = pattern.strip_prefix('*').unwrap_or(pattern);
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    if !pattern.is_empty() && rest.bytes().all(fine) {
        return Ok(());
    }
    Err(format!("found the pattern {pattern:?}, expected a host name (IDNA form), with a * at the start at most"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_work_is_named() {
        assert_eq!(
            HostPatterns::read(&[String::from("a*b.test")]).unwrap_err(),
            "found the pattern \"a*b.test\", expected a host name (IDNA form), with a * at the start at most"
        );
        for value in ["", "name", "unix:relative", "unix:@", "127.0.0.1:99999", "[::1"] {
            let problem = FixedHosts::read(&[("x.test".to_owned(), value.to_owned())].into()).unwrap_err();
            let expected = "expected an IP address, ip:port, unix:/path or unix:@name";
            assert_eq!(problem, format!("\"x.test\" leads to {value:?}, {expected}"));
        }
    }
}
