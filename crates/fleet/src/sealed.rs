//! Messages that lie where others may write: each carries a code by which whoever knows the run's secret sees that
//! another who knows it has written it, for this place and no other.
//!
//! HMAC-SHA256 over the place and the content. It hides nothing: who may read the store or the broker reads the
//! messages. The secret itself is therefore never in one (`without_secret`).

use data_encoding::HEXLOWER;
use hmac::{Hmac, Mac};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::message::{self, Report};
use crate::token::{Secret, Token};

const CODE: usize = 32;

/// Closes and opens messages of one run.
#[derive(Clone)]
pub(crate) struct Seal {
    code: Hmac<Sha256>,
    secret: Secret,
}

/// What agents find a coordinator by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Announcement {
    /// This life of the coordinator; another one's messages are elsewhere.
    pub(crate) hub: u64,
    /// Where frames and the archive go, when not by the way of the other messages.
    pub(crate) bulk: Option<String>,
}

impl Announcement {
    /// Of a coordinator that begins.
    pub(crate) fn new(bulk: Option<String>) -> Result<Announcement, String> {
        Ok(Announcement { hub: crate::token::random_number()?, bulk })
    }
}

/// Under what name the messages of a run's token lie; it tells nothing of the secret.
pub(crate) fn room(token: &Token) -> String {
    HEXLOWER.encode(&token.fingerprint[..8])
}

impl Seal {
    pub(crate) fn new(secret: &Secret) -> Seal {
        let code = Hmac::new_from_slice(secret.bytes()).unwrap_or_else(|_| unreachable!("bug: any key will do"));
        Seal { code, secret: secret.clone() }
    }

    fn code(&self, place: &str, content: &[u8]) -> Hmac<Sha256> {
        let mut code = self.code.clone();
        code.update(&(place.len() as u64).to_le_bytes());
        code.update(place.as_bytes());
        code.update(content);
        code
    }

    /// A message as it is put there.
    pub(crate) fn close(&self, place: &str, content: &[u8]) -> Vec<u8> {
        let code = self.code(place, content).finalize().into_bytes();
        [code.as_slice(), content].concat()
    }

    /// What was put there, if it is whole and by somebody who knows the secret.
    pub(crate) fn open<'a>(&self, place: &str, sealed: &'a [u8]) -> Option<&'a [u8]> {
        let (code, content) = sealed.split_at_checked(CODE)?;
        self.code(place, content).verify_slice(code).ok().map(|()| content)
    }

    /// The same, for a message.
    pub(crate) fn read<T: DeserializeOwned>(&self, place: &str, sealed: &[u8]) -> Option<T> {
        message::decode(self.open(place, sealed)?).ok()
    }

    /// A report as the coordinator's machine expects it: who has sealed a hello knows the secret.
    pub(crate) fn with_secret(&self, mut report: Report) -> Report {
        if let Report::Hello(hello) = &mut report {
            hello.secret = self.secret.clone();
        }
        report
    }
}

/// A report that may be read by others.
pub(crate) fn without_secret(report: &mut Report) {
    if let Report::Hello(hello) = report {
        hello.secret = Secret::nobodys();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_opens_at_its_place_with_its_secret_and_whole() {
        let secret = Secret::random().unwrap();
        let seal = Seal::new(&secret);
        let sealed = seal.close("up/1", b"hello");
        assert_eq!(Seal::new(&secret).open("up/1", &sealed), Some(&b"hello"[..]));
        assert_eq!(seal.open("up/2", &sealed), None);
        assert_eq!(Seal::new(&Secret::random().unwrap()).open("up/1", &sealed), None);
        for at in 0..sealed.len() {
            let mut spoiled = sealed.clone();
            spoiled[at] ^= 1;
            assert_eq!(seal.open("up/1", &spoiled), None, "byte {at}");
        }
        assert_eq!(seal.open("up/1", &sealed[..sealed.len() - 1]), None);
        assert_eq!(seal.open("up/1", b""), None);
    }
}
