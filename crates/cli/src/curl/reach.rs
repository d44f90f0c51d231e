//! How the server of a quick run is reached: fixed addresses and client certificates, for the options of the test.
//!
//! Addresses are IP addresses, because names would be looked up by the machine that runs the script, and change.

use wire::Url;

use super::flag::Act;
use super::line::Given;
use convert::source;

/// The flags that say how the server is reached.
#[derive(Default)]
pub struct Reach<'a> {
    /// Of either kind; the last one holds.
    pub unix_socket: Option<&'a Given>,
    /// Fixed addresses, in order.
    pub connect: Vec<&'a Given>,
    /// The client's certificate.
    pub certificate: Option<&'a Given>,
    /// The file of its key.
    pub key: Option<&'a str>,
    /// The lowest and the highest version of TLS: names and JavaScript.
    pub tls: Vec<(String, String)>,
}

impl Reach<'_> {
    /// Options of the test: names and JavaScript.
    pub fn options(&self, url: &Url) -> Result<Vec<(&'static str, String)>, String> {
        let (hosts, mut options) = (self.hosts(url)?, Vec::new());
        if !hosts.is_empty() {
            let fields: Vec<_> = hosts.into_iter().map(|(host, to)| (host, source::text(&to))).collect();
            options.push(("hosts", source::object(&fields, 2)));
        }
        if !self.tls.is_empty() {
            options.push(("tlsVersion", source::object(&self.tls, 2)));
        }
        match (self.certificate, self.key) {
            (None, Some(_)) => return Err(String::from("--key: expected --cert FILE with it")),
            (None, None) => {}
            (Some(certificate), key) => {
                let fields = certificate_fields(certificate, key)?;
                options.push(("tlsAuth", format!("[{}]", source::object(&fields, 2))));
            }
        }
        Ok(options)
    }

    /// Hosts and where they are.
    fn hosts(&self, url: &Url) -> Result<Vec<(String, String)>, String> {
        let mut hosts = Vec::new();
        for given in &self.connect {
            hosts.push(match given.act {
                Act::Resolve => resolved(given)?,
                _ => connected(given, url)?,
            });
        }
        if let Some(socket) = self.unix_socket {
            let host = if url.host.contains(':') { format!("[{}]:{}", url.host, url.port) } else { url.host.clone() };
            hosts.push((host, socket_address(socket)?));
        }
        Ok(hosts)
    }
}

/// `host:port:address`.
fn resolved(given: &Given) -> Result<(String, String), String> {
    let refuse = || format!("{} {}: expected HOST:PORT:ADDRESS with one address", given.spelled, given.value);
    let text = given.value.strip_prefix('+').unwrap_or(&given.value);
    let mut parts = text.splitn(3, ':');
    let (host, port, address) = (parts.next(), parts.next(), parts.next());
    let (Some(host), Some(port), Some(address)) = (host, port, address) else { return Err(refuse()) };
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let fine = !host.is_empty() && !host.starts_with('-') && port.parse::<u16>().is_ok();
    match fine && address.parse::<std::net::IpAddr>().is_ok() {
        true if host == "*" => Err(format!("{} {}: name the host instead of *", given.spelled, given.value)),
        true => Ok((format!("{host}:{port}"), address.to_owned())),
        false => Err(refuse()),
    }
}

/// `host1:port1:host2:port2`; the first two may be empty and are the URL's then.
fn connected(given: &Given, url: &Url) -> Result<(String, String), String> {
    let refuse = || {
        let expected = "expected HOST:PORT:ADDRESS:PORT with an IP address";
        format!("{} {}: {expected}", given.spelled, given.value)
    };
    let mut parts = given.value.splitn(3, ':');
    let (host, port, to) = (parts.next(), parts.next(), parts.next());
    let (Some(host), Some(port), Some(to)) = (host, port, to) else { return Err(refuse()) };
    let (address, to_port) = to.rsplit_once(':').ok_or_else(refuse)?;
    let host = if host.is_empty() { url.host.as_str() } else { host };
    let port = if port.is_empty() { url.port } else { port.parse().map_err(|_| refuse())? };
    let to_port = if to_port.is_empty() { url.port } else { to_port.parse().map_err(|_| refuse())? };
    let address: std::net::IpAddr =
        address.trim_start_matches('[').trim_end_matches(']').parse().map_err(|_| refuse())?;
    Ok((format!("{host}:{port}"), std::net::SocketAddr::new(address, to_port).to_string()))
}

/// `FILE` or `FILE:PASSWORD`, with the key in another file or in the same.
fn certificate_fields(given: &Given, key: Option<&str>) -> Result<Vec<(String, String)>, String> {
    let exists = |path: &str| std::path::Path::new(path).is_file();
    let (path, password) = match given.value.split_once(':') {
        Some((path, password)) if !exists(&given.value) => (path, Some(password)),
        _ => (given.value.as_str(), None),
    };
    for path in [Some(path), key].into_iter().flatten() {
        std::fs::File::open(path)
            .map_err(|error| format!("{}: cannot read the file {path}: {error}", given.spelled))?;
    }
    let open = |path: &str| format!("open({})", source::text(path));
    let mut fields = vec![("cert".to_owned(), open(path)), ("key".to_owned(), open(key.unwrap_or(path)))];
    fields.extend(password.map(|password| ("password".to_owned(), source::text(password))));
    Ok(fields)
}

/// Where the socket of a flag is, as the option `hosts` has it.
fn socket_address(given: &Given) -> Result<String, String> {
    let name = given.value.as_str();
    if name.is_empty() {
        return Err(format!("{}: found an empty name, expected that of a socket", given.spelled));
    }
    if given.act == Act::AbstractUnixSocket {
        return Ok(format!("unix:@{name}"));
    }
    let path = std::path::absolute(name).map_err(|error| format!("{} {name}: {error}", given.spelled))?;
    Ok(format!("unix:{}", path.display()))
}
