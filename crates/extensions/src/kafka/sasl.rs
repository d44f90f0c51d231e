//! Logging in: SASL with PLAIN (RFC 4616) and SCRAM (RFC 5802, 7677).

use std::time::Duration;

use bytes::Bytes;
use hmac::digest::{FixedOutputReset, KeyInit};
use hmac::{Hmac, Mac};
use kafka_protocol::messages::{SaslAuthenticateRequest, SaslHandshakeRequest};
use kafka_protocol::protocol::StrBytes;
use script::Vu;
use sha2::{Digest, Sha256, Sha512};

use super::broker::{KafkaBroker, error_text};

/// How to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// The password itself.
    Plain,
    /// A proof that the password is known.
    Scram256,
    /// The same with longer digests.
    Scram512,
}

/// Who logs in.
#[derive(Clone, Debug)]
pub struct SaslLogin {
    /// How.
    pub mechanism: Mechanism,
    /// The user of the broker.
    pub username: String,
    /// Its password.
    pub password: String,
}

/// Iterations that a server may ask for: more would be an attack on our time.
const MOST_ITERATIONS: u32 = 1 << 20;

/// Logs in.
pub async fn login(vu: &Vu, broker: &mut KafkaBroker, login: &SaslLogin, timeout: Duration) -> Result<(), String> {
    let name = match login.mechanism {
        Mechanism::Plain => "PLAIN",
        Mechanism::Scram256 => "SCRAM-SHA-256",
        Mechanism::Scram512 => "SCRAM-SHA-512",
    };
    let mut request = SaslHandshakeRequest::default();
    request.mechanism = StrBytes::from_static_str(name);
    let agreed = broker.exchange(vu, &request, 1, timeout).await?;
    if let Some(why) = error_text(agreed.error_code) {
        let known: Vec<&str> = agreed.mechanisms.iter().map(|name| name.as_str()).collect();
        return Err(format!("SASL {name}: {why}; the broker has {}", known.join(", ")));
    }
    let failed = |why: String| format!("SASL {name}: {why}");
    let mut line = Dialogue { vu, broker, timeout };
    let done = match login.mechanism {
        Mechanism::Plain => {
            let text = format!("\0{}\0{}", login.username, login.password);
            line.say(text.into_bytes()).await.map(drop)
        }
        Mechanism::Scram256 => scram::<Hmac<Sha256>, Sha256>(&mut line, login).await,
        Mechanism::Scram512 => scram::<Hmac<Sha512>, Sha512>(&mut line, login).await,
    };
    done.map_err(failed)
}

/// What the two sides say.
struct Dialogue<'a> {
    vu: &'a Vu,
    broker: &'a mut KafkaBroker,
    timeout: Duration,
}

impl Dialogue<'_> {
    async fn say(&mut self, words: Vec<u8>) -> Result<Bytes, String> {
        let mut request = SaslAuthenticateRequest::default();
        request.auth_bytes = Bytes::from(words);
        let answer = self.broker.exchange(self.vu, &request, 2, self.timeout).await?;
        match (error_text(answer.error_code), answer.error_message) {
            (None, _) => Ok(answer.auth_bytes),
            (Some(why), Some(more)) => Err(format!("{why}: {}", more.as_str())),
            (Some(why), None) => Err(why),
        }
    }
}

async fn scram<M: Mac + KeyInit + FixedOutputReset + Clone + Sync, D: Digest>(
    line: &mut Dialogue<'_>,
    login: &SaslLogin,
) -> Result<(), String> {
    let nonce: String = std::iter::repeat_with(fastrand::alphanumeric).take(24).collect();
    let name = login.username.replace('=', "=3D").replace(',', "=2C");
    let bare = format!("n={name},r={nonce}");
    let first = line.say(format!("n,,{bare}").into_bytes()).await?;
    let (answer, proof) = prove::<M, D>(login.password.as_bytes(), &bare, &nonce, &first)?;
    let last = line.say(answer.into_bytes()).await?;
    match std::str::from_utf8(&last).ok().and_then(|text| text.split(',').next()) == Some(&format!("v={proof}")) {
        true => Ok(()),
        false => Err(String::from("the broker does not know the password: its signature is wrong")),
    }
}

/// The client's last words, and the signature that the server must have.
pub(crate) fn prove<M: Mac + KeyInit + FixedOutputReset + Clone + Sync, D: Digest>(
    password: &[u8],
    bare: &str,
    nonce: &str,
    first: &[u8],
) -> Result<(String, String), String> {
    let wrong = || format!("the broker's challenge cannot be read: {:?}", String::from_utf8_lossy(first));
    let text = std::str::from_utf8(first).map_err(|_| wrong())?;
    let field = |name: &str| text.split(',').find_map(|field| field.strip_prefix(name));
    let (Some(whole), Some(salt), Some(count)) = (field("r="), field("s="), field("i=")) else { return Err(wrong()) };
    let salt = base64_simd::STANDARD.decode_to_vec(salt).map_err(|_| wrong())?;
    let count: u32 = count.parse().map_err(|_| wrong())?;
    if !whole.starts_with(nonce) || whole.len() == nonce.len() || !(1..=MOST_ITERATIONS).contains(&count) {
        return Err(wrong());
    }
    let mut salted = vec![0; <D as Digest>::output_size()];
    pbkdf2::pbkdf2::<M>(password, &salt, count, &mut salted).map_err(|error| error.to_string())?;
    let keyed = |key: &[u8], words: &[u8]| {
        let mut mac = <M as Mac>::new_from_slice(key).expect("an HMAC takes keys of any length");
        Mac::update(&mut mac, words);
        mac.finalize().into_bytes()
    };
    let client_key = keyed(&salted, b"Client Key");
    let ending = format!("c=biws,r={whole}");
    let words = format!("{bare},{text},{ending}");
    let signature = keyed(&D::digest(&client_key), words.as_bytes());
    let proof: Vec<u8> = client_key.iter().zip(&signature).map(|(key, sign)| key ^ sign).collect();
    let server = keyed(&keyed(&salted, b"Server Key"), words.as_bytes());
    let base64 = |bytes: &[u8]| base64_simd::STANDARD.encode_to_string(bytes);
    Ok((format!("{ending},p={}", base64(&proof)), base64(&server)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exchange_of_rfc_7677() {
        let bare = "n=user,r=rOprNGfwEbeRWgbNEkqO";
        let first = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let proved = prove::<Hmac<Sha256>, Sha256>(b"pencil", bare, "rOprNGfwEbeRWgbNEkqO", first.as_bytes());
        let (answer, server) = proved.unwrap();
        assert!(answer.ends_with(",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="), "{answer}");
        assert_eq!(server, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        let other = prove::<Hmac<Sha256>, Sha256>(b"pencil", bare, "another", first.as_bytes());
        assert!(other.unwrap_err().contains("cannot be read"), "a nonce that is not ours");
    }
}
