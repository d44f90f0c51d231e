//! HTTP/2 (RFC 9113): on TLS by ALPN, on plain tcp and unix sockets by prior knowledge.
//!
//! The protocol itself is the `h2` crate's; here its streams meet the routes, apps, bodies, faults and counters that
//! HTTP/1.1 has. Either way a connection begins with the client's preface, so that the connection's first bytes decide
//! and no HTTP/1.1 request pays for it. `Upgrade: h2c` is not done: RFC 9113 withdrew it, and clients that want
//! cleartext know the server beforehand.

mod body;
mod connection;
mod exchange;
mod fault;
mod head;
mod send;
mod transport;

pub(crate) use connection::serve;

/// What a client says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// `PRI * HTTP/2`, from where on no other protocol is meant.
const PREFACE_LINE: usize = 12;

/// Whether bytes that are no HTTP/1.x head begin an HTTP/2 connection, even a wrong one.
///
/// A first line of three words, the second no target and the third no version of HTTP, is a preface that is wrong: such
/// a connection ends (RFC 9113, 3.4) and gets no answer in a protocol that the client has not shown to speak.
pub(crate) fn is_preface(bytes: &[u8]) -> bool {
    let announced = bytes.len() >= PREFACE_LINE && PREFACE.starts_with(bytes);
    announced || bytes.starts_with(PREFACE) || is_foreign(bytes)
}

fn is_foreign(bytes: &[u8]) -> bool {
    let line = bytes.split(|b| *b == b'\r').next().unwrap_or_default();
    let mut words = line.split(|b| *b == b' ');
    let (Some(_), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next()) else {
        return false;
    };
    let is_word = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_uppercase);
    is_word(target) && is_word(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preface_is_known_by_its_begin() {
        assert!(is_preface(PREFACE));
        assert!(is_preface(&[PREFACE, b"\0\0\0\x04"].concat()));
        assert!(is_preface(b"PRI * HTTP/2.0\r\n"));
        assert!(is_preface(b"INVALID CONNECTION PREFACE\r\n\r\n"));
        for other in [
            &b"PRI * HTTP/1.1\r\n\r\n"[..],
            b"PRI * HTTP/2.0\r\nHost: a\r\n\r\n",
            b"PRI ",
            b"",
            b"GET / HTP\r\n\r\n",
            b"GARBAGE\r\n\r\n",
        ] {
            assert!(!is_preface(other));
        }
    }
}
