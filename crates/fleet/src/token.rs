//! What lets an agent into a run: a secret that it shows, and the fingerprint by which it knows its coordinator.
//!
//! A token is made for one run. An agent that holds it talks to nobody but the coordinator whose certificate has that
//! fingerprint, so the secret is never shown to anybody else; a token of another run meets another certificate and is
//! refused before it is sent.

use std::fmt;

use serde::{Deserialize, Serialize};

const SECRET_BYTES: usize = 16;
const FINGERPRINT_BYTES: usize = 32;

/// What is shown to join.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret([u8; SECRET_BYTES]);

impl Secret {
    /// One that nobody can guess.
    pub fn random() -> Result<Secret, String> {
        Ok(Secret(random()?))
    }

    /// A placeholder, where others may read.
    pub(crate) fn nobodys() -> Secret {
        Secret([0; SECRET_BYTES])
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compared without telling by the time how much of it was right.
    pub fn is(&self, other: &Secret) -> bool {
        self.0.iter().zip(other.0).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A number that nobody has drawn before.
pub fn random_number() -> Result<u64, String> {
    random().map(u64::from_le_bytes)
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::getrandom(&mut bytes).map_err(|error| format!("the system gives no random numbers: {error}"))?;
    Ok(bytes)
}

/// A secret, and whom to show it to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// What to show.
    pub secret: Secret,
    /// SHA-256 of the coordinator's certificate.
    pub fingerprint: [u8; FINGERPRINT_BYTES],
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: Vec<u8> = self.secret.0.iter().chain(&self.fingerprint).copied().collect();
        f.write_str(&base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes))
    }
}

impl Token {
    /// From its text.
    pub fn parse(text: &str) -> Option<Token> {
        let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text).ok()?;
        let (secret, fingerprint) = bytes.split_at_checked(SECRET_BYTES)?;
        Some(Token { secret: Secret(secret.try_into().ok()?), fingerprint: fingerprint.try_into().ok()? })
    }
}

/// Where to join, and by what right: `TOKEN@host:port`, or `TOKEN@URL` of what carries the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// By this.
    pub token: Token,
    /// There.
    pub address: String,
}

impl Invitation {
    /// Reads `TOKEN@host:port`; the error does not repeat the token.
    pub fn parse(text: &str) -> Result<Invitation, String> {
        let expected = "expected TOKEN@HOST:PORT or TOKEN@URL, as the coordinator printed it";
        let (token, address) = text.trim().split_once('@').ok_or_else(|| format!("found no '@', {expected}"))?;
        let token = Token::parse(token).ok_or_else(|| {
            let found = token.chars().count();
            format!("the token is none, or not whole: found {found} characters, expected 64; {expected}")
        })?;
        let is_url = address.split_once("://").is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
        match is_url
            || address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        {
            true => Ok(Invitation { token, address: address.to_owned() }),
            false => Err(format!("found the address '{address}', {expected}")),
        }
    }
}

impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.token, self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_comes_back_and_a_wrong_one_is_named_without_its_token() {
        let token = Token { secret: Secret::random().unwrap(), fingerprint: [7; 32] };
        let text = Invitation { token: token.clone(), address: "[::1]:6600".into() }.to_string();
        let read = Invitation::parse(&format!(" {text}\n")).unwrap();
        assert!(read.token == token && read.token.secret.is(&token.secret) && read.address == "[::1]:6600");
        assert_eq!(token.to_string().len(), 64);
        for url in ["s3://bucket/a/b", "file:///x", "nats://user@host:4222"] {
            assert_eq!(Invitation::parse(&format!("{token}@{url}")).unwrap().address, url);
        }
        for (wrong, said) in [
            ("abc", "found no '@'"),
            ("abc@host:1", "found 3 characters, expected 64"),
            (&format!("{token}@host"), "found the address 'host'"),
            (&format!("{token}@:1"), "found the address ':1'"),
        ] {
            let error = Invitation::parse(wrong).unwrap_err();
            assert!(error.contains(said) && !error.contains(&token.to_string()), "{error}");
        }
    }

    #[test]
    fn secrets_differ() {
        let (a, b) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert!(a.is(&a) && !a.is(&b));
        assert_eq!(format!("{a:?}"), "Secret");
    }
}
