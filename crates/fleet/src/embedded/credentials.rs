//! What makes a coordinator one that agents can join.

use serde::{Deserialize, Serialize};

use super::Certificate;
use crate::message;
use crate::token::{Secret, Token};

/// What a coordinator needs to be joined: made for a run, or kept in a file for one that is started again or by
/// somebody else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// What agents show.
    pub secret: Secret,
    /// What they know the coordinator by, and its key.
    pub certificate: Certificate,
}

impl Credentials {
    /// New ones.
    pub fn make() -> Result<Credentials, String> {
        Ok(Credentials { secret: Secret::random()?, certificate: Certificate::make()? })
    }

    /// What agents are given.
    pub fn token(&self) -> Token {
        Token { secret: self.secret.clone(), fingerprint: self.certificate.fingerprint() }
    }

    /// One line for a file that others must not read.
    pub fn to_text(&self) -> String {
        base64_simd::URL_SAFE_NO_PAD.encode_to_string(message::encode(self))
    }

    /// From that line.
    pub fn parse(text: &str) -> Result<Credentials, String> {
        let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text.trim());
        let bytes = bytes.map_err(|_| String::from("it is not base64"))?;
        message::decode(&bytes).map_err(|why| format!("it holds {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_come_back_from_their_line() {
        let made = Credentials::make().unwrap();
        assert_eq!(Credentials::parse(&format!("{}\n", made.to_text())), Ok(made.clone()));
        assert_eq!(made.token().fingerprint, made.certificate.fingerprint());
        assert!(Credentials::parse("?").is_err() && Credentials::parse("AAAA").is_err());
    }
}
