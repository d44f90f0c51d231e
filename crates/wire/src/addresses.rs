//! IP ranges as options write them: CIDR blocks for `blacklistIPs`, ranges and lists for `--local-ips`.
//!
//! Refused: ranges that run backwards, and pools too large to be a list of this machine's addresses.
//! Invariant: an IPv4 address mapped into IPv6 is treated as the IPv4 address it is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net};

/// More local addresses than any machine has; a larger pool is a slip of the pen (`/4` for `/24`).
const MOST_LOCAL_IPS: u128 = 1 << 20;

/// Reads `10.0.0.0/8`, `fd00::/8`, or a single address, as the network it is in: `10.1.2.3/8` is `10.0.0.0/8`, as in
/// k6. The error says what was found and what was expected.
pub fn parse_block(text: &str) -> Result<IpNet, String> {
    let bad = || format!("found {text:?}, expected a CIDR block such as 10.0.0.0/8 or an IP address");
    as_written(text).map(|block| unmapped(block).trunc()).ok_or_else(bad)
}

/// Whether the address is in the block.
pub(crate) fn block_contains(block: &IpNet, address: IpAddr) -> bool {
    block.contains(&address.to_canonical())
}

/// A block or a single address, with the address that was written.
fn as_written(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse().ok().map(|address: IpAddr| IpNet::from(address)))
}

/// A block of mapped addresses is the block of IPv4 addresses it stands for.
fn unmapped(block: IpNet) -> IpNet {
    let mapped = match block {
        IpNet::V6(v6) => v6.addr().to_ipv4_mapped().zip(v6.prefix_len().checked_sub(96)),
        IpNet::V4(_) => None,
    };
    mapped.and_then(|(address, prefix)| Ipv4Net::new(address, prefix).ok()).map_or(block, IpNet::V4)
}

fn number_of(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

fn address_of(number: u128, v4: bool) -> IpAddr {
    match u32::try_from(number) {
        Ok(small) if v4 => Ipv4Addr::from_bits(small).into(),
        _ => Ipv6Addr::from_bits(number).into(),
    }
}

/// Reads the value of `--local-ips` / `K6_LOCAL_IPS`: addresses, `from-to` ranges and CIDR blocks, separated by commas.
/// A block starts at the address written and leaves out network and broadcast address, as in k6. The error says what is
/// wrong and what is expected.
pub fn parse_local_ips(text: &str) -> Result<Vec<IpAddr>, String> {
    let mut found = Vec::new();
    for item in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
        let (from, to, v4) = local_range(item)?;
        assert!(from <= to, "a range is read with its lower end first: {from} to {to}");
        if (to - from).saturating_add(found.len() as u128) >= MOST_LOCAL_IPS {
            return Err(format!(
                "local IPs: {item} makes more than {MOST_LOCAL_IPS} addresses; give the addresses this machine has"
            ));
        }
        found.extend((from..=to).map(|number| address_of(number, v4)));
    }
    Ok(found)
}

fn local_range(item: &str) -> Result<(u128, u128, bool), String> {
    let bad = || {
        format!(
            "local IPs: {item:?} is not a valid IP, IP range or CIDR; expected 10.0.0.1, 10.0.0.1-10.0.0.9 or \
             10.0.0.0/24"
        )
    };
    if let Some((from, to)) = item.split_once('-') {
        let from: IpAddr = from.trim().parse().map_err(|_| bad())?;
        let to: IpAddr = to.trim().parse().map_err(|_| bad())?;
        if from.is_ipv4() != to.is_ipv4() {
            return Err(bad());
        }
        if number_of(to) < number_of(from) {
            return Err(format!("local IPs: negative IP range {item}; expected the lower address first"));
        }
        return Ok((number_of(from), number_of(to), from.is_ipv4()));
    }
    let block = as_written(item).ok_or_else(bad)?;
    let (first, last) = (number_of(block.network()), number_of(block.broadcast()));
    // A block of one or two addresses has neither network nor broadcast address (RFC 3021).
    let spare = u128::from(block.max_prefix_len() - block.prefix_len() > 1);
    let start = number_of(block.addr()).max(first + spare);
    Ok((start, (last - spare).max(start), block.addr().is_ipv4()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<String, String> {
        parse_local_ips(text).map(|l| l.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn blocks_contain_their_addresses() {
        let cases = [
            ("127.0.0.0/8", "127.9.9.9", true),
            ("127.0.0.0/8", "128.0.0.1", false),
            ("127.0.0.0/8", "::ffff:127.0.0.1", true),
            ("127.0.0.5", "127.0.0.5", true),
            ("127.0.0.5", "127.0.0.4", false),
            ("0.0.0.0/0", "1.2.3.4", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "fe80::1", true),
            ("::1", "::1", true),
            ("fd00::/8", "fdff::1", true),
            ("::ffff:127.0.0.0/104", "127.9.9.9", true),
        ];
        for (block, address, inside) in cases {
            let found = block_contains(&parse_block(block).unwrap(), address.parse().unwrap());
            assert_eq!(found, inside, "{address} in {block}");
        }
        for bad in ["nope", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.0/", "::/129", "", "/8"] {
            assert!(parse_block(bad).is_err(), "{bad}");
        }
    }

    /// As k6 prints them.
    #[test]
    fn a_block_is_the_network_of_its_address() {
        let cases = [
            ("127.0.0.5/8", "127.0.0.0/8"),
            ("::ffff:127.0.0.1/128", "127.0.0.1/32"),
            ("127.0.0.1", "127.0.0.1/32"),
            ("fd00::1", "fd00::1/128"),
            ("::/0", "::/0"),
        ];
        for (text, printed) in cases {
            assert_eq!(parse_block(text).unwrap().to_string(), printed);
        }
    }

    #[test]
    fn local_ips_are_listed_as_k6_deals_them() {
        let cases = [
            ("127.0.1.0/30", "127.0.1.1 127.0.1.2"),
            ("127.0.1.5/30", "127.0.1.5 127.0.1.6"),
            ("127.0.0.7,127.0.0.9-127.0.0.11", "127.0.0.7 127.0.0.9 127.0.0.10 127.0.0.11"),
            ("127.0.2.1/32", "127.0.2.1"),
            ("127.0.2.0/31", "127.0.2.0 127.0.2.1"),
            (" 127.0.0.3 , ::1", "127.0.0.3 ::1"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(list(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn bad_local_ips_say_what_is_expected() {
        for text in ["127.0.0.300", "127.0.0.1/33", "127.0.0.3,", "127.0.0.1-::1", "x-y"] {
            assert!(list(text).unwrap_err().contains("expected 10.0.0.1, "), "{text}");
        }
        assert_eq!(
            list("127.0.0.5-127.0.0.1").unwrap_err(),
            "local IPs: negative IP range 127.0.0.5-127.0.0.1; expected the lower address first"
        );
        for text in ["10.0.0.0/4", "::/0", "::-ffff::"] {
            assert!(list(text).unwrap_err().contains("more than 1048576 addresses"), "{text}");
        }
    }
}
