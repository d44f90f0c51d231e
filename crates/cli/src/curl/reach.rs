//! How the server of a quick run is reached: fixed addresses and client certificates, for the options of the test.
//!
//! Addresses are IP addresses, because names would be looked up by the machine that runs the script, and change.

use wire::Url;

use super::line::Given;
use convert::source;

/// `host:port:address`.
pub fn resolved(given: &Given) -> Result<(String, String), String> {
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
pub fn connected(given: &Given, url: &Url) -> Result<(String, String), String> {
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
pub fn certificate_fields(given: &Given, key: Option<&str>) -> Result<Vec<(String, String)>, String> {
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
