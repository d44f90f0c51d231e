//! What a test of a tool may do: how long, how much, and where to.
//!
//! Addresses are held by the option `blacklistIPs`, which is looked at when a connection is made, so that no name and
//! no redirect leads elsewhere. It is given as a flag, which beats the script's options.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};
use std::time::Duration;

use clap::ArgMatches;
use ipnet::IpNet;

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// The bounds of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// It is ended then.
    pub(super) duration: Duration,
    /// HTTP requests a second.
    pub(super) rate: u64,
    /// Virtual users.
    pub(super) vus: u64,
    /// Blocks that hold every address but those that may be reached.
    pub(super) refused: Vec<IpNet>,
}

impl Bounds {
    /// Reads the flags; names of hosts are looked up once.
    pub(super) fn read(matches: &ArgMatches) -> Result<Bounds, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).expect("has a default").as_str();
        let duration = units::Span::parse_with_unit(text("max-duration")).and_then(units::Span::to_duration);
        let duration = duration.filter(|duration| !duration.is_zero());
        let duration = duration
            .ok_or_else(|| Failure::of_flag("--max-duration", text("max-duration"), "a time, such as 30s or 5m"))?;
        let whole = |name: &str| {
            let number = text(name).parse::<u64>().ok().filter(|number| *number > 0);
            number.ok_or_else(|| Failure::of_flag(&format!("--{name}"), text(name), "a whole number from 1 on"))
        };
        let mut allowed = vec![block(IpAddr::V4(Ipv4Addr::LOCALHOST), 8), block(IpAddr::V6(Ipv6Addr::LOCALHOST), 128)];
        for host in matches.get_many::<String>("allow-host").into_iter().flatten() {
            allowed.extend(blocks_of(host)?);
        }
        let rate = (whole("max-requests")? as f64 / duration.as_secs_f64()).ceil() as u64;
        Ok(Bounds { duration, rate, vus: whole("max-vus")?, refused: others(&allowed) })
    }
}

fn block(address: IpAddr, length: u8) -> IpNet {
    IpNet::new(address, length).expect("a length of its family").trunc()
}

/// A block, or the addresses of a host.
fn blocks_of(host: &str) -> Result<Vec<IpNet>, Failure> {
    if let Ok(block) = host.parse::<IpNet>() {
        return Ok(vec![block.trunc()]);
    }
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let found = (name, 0).to_socket_addrs().map_err(|error| {
        Failure::new(ExitCode::Generic, format!("--allow-host {host}: {error}; give a host, an address or a CIDR"))
    })?;
    Ok(found.map(|address| IpNet::from(address.ip())).collect())
}

/// The fewest blocks that hold every address outside of `allowed`.
fn others(allowed: &[IpNet]) -> Vec<IpNet> {
    let all = [block(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0), block(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0)];
    let (mut out, mut waiting) = (Vec::new(), all.to_vec());
    while let Some(block) = waiting.pop() {
        if allowed.iter().any(|allowed| allowed.contains(&block)) {
            continue;
        }
        if !allowed.iter().any(|allowed| block.contains(allowed)) {
            out.push(block);
            continue;
        }
        // Some of it is allowed and some is not, so it has halves.
        waiting.extend(block.subnets(block.prefix_len() + 1).into_iter().flatten());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_what_is_allowed_is_refused() {
        let allowed: Vec<IpNet> = ["127.0.0.0/8", "::1/128", "10.1.2.3/32"].map(|text| text.parse().unwrap()).into();
        let refused = others(&allowed);
        let is_refused = |text: &str| {
            let address: IpAddr = text.parse().unwrap();
            refused.iter().any(|block| block.contains(&address))
        };
        for text in ["127.0.0.1", "127.255.255.255", "::1", "10.1.2.3"] {
            assert!(!is_refused(text), "{text}");
        }
        for text in ["0.0.0.0", "126.255.255.255", "128.0.0.0", "255.255.255.255", "10.1.2.2", "::", "::2", "fe80::1"] {
            assert!(is_refused(text), "{text}");
        }
        assert_eq!(others(&["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()]), []);
    }
}
