//! Private keys of client certificates out of PEM, encrypted ones included.
//!
//! Two encryptions are in use: that of PKCS#8 (`BEGIN ENCRYPTED PRIVATE KEY`), and the older one of OpenSSL, which says
//! `Proc-Type: 4,ENCRYPTED` inside a `BEGIN RSA PRIVATE KEY` or `BEGIN EC PRIVATE KEY`. k6 reads the latter alone.
//! Refuses single DES and RC2. Errors never repeat the key or the password.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockDecryptMut, KeyIvInit};
use md5::{Digest, Md5};
use pkcs8::EncryptedPrivateKeyInfo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer};

/// Reads the first private key. A password for a key that is not encrypted is not used. The error says what was found
/// and what was expected.
pub(crate) fn read(pem: &str, password: Option<&str>) -> Result<PrivateKeyDer<'static>, String> {
    let Some(block) = Block::find(pem).filter(|block| block.is_encrypted()) else {
        return PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|error| format!("found no private key in `key` ({error}), expected PEM with BEGIN PRIVATE KEY"));
    };
    let Some(password) = password.filter(|password| !password.is_empty()) else {
        return Err(String::from("found an encrypted private key and no `password`, expected its password"));
    };
    let wrong = || String::from("cannot decrypt the private key: the password is not the right one");
    if block.label == PKCS8_LABEL {
        let broken = |error| format!("found an encrypted private key that cannot be read ({error})");
        let info = EncryptedPrivateKeyInfo::try_from(&*block.content).map_err(broken)?;
        let plain = info.decrypt(password).map_err(|error| match error {
            pkcs8::Error::EncryptedPrivateKey(pkcs8::pkcs5::Error::UnsupportedAlgorithm { oid }) => {
                format!("found a private key encrypted by algorithm {oid}, expected AES or triple DES")
            }
            _ => wrong(),
        })?;
        return Ok(PrivatePkcs8KeyDer::from(plain.as_bytes().to_vec()).into());
    }
    let plain = block.decrypt(password)?.filter(|plain| looks_like_der(plain)).ok_or_else(wrong)?;
    Ok(match block.label {
        "RSA PRIVATE KEY" => PrivatePkcs1KeyDer::from(plain).into(),
        "EC PRIVATE KEY" => PrivateSec1KeyDer::from(plain).into(),
        label => return Err(format!("found an encrypted {label}, expected an RSA or EC key")),
    })
}

const PKCS8_LABEL: &str = "ENCRYPTED PRIVATE KEY";

/// One PEM block: RFC 7468, with the headers of RFC 1421 that OpenSSL still writes.
struct Block<'a> {
    label: &'a str,
    /// Algorithm and initialization vector of DEK-Info.
    encryption: Option<(&'a str, &'a str)>,
    content: Vec<u8>,
}

impl<'a> Block<'a> {
    /// The first block with a private key.
    fn find(pem: &'a str) -> Option<Block<'a>> {
        pem.split("-----BEGIN ").skip(1).find_map(|text| {
            let (label, rest) = text.split_once("-----")?;
            let body = rest.split("-----END ").next()?;
            label.ends_with("PRIVATE KEY").then(|| Block::read(label, body))?
        })
    }

    fn read(label: &'a str, body: &'a str) -> Option<Block<'a>> {
        let (headers, lines): (Vec<&str>, Vec<&str>) = body.lines().map(str::trim).partition(|line| line.contains(':'));
        let encryption = headers.iter().find_map(|line| line.strip_prefix("DEK-Info:")?.trim().split_once(','));
        let content = base64_simd::STANDARD.decode_to_vec(lines.concat()).ok()?;
        Some(Block { label, encryption, content })
    }

    fn is_encrypted(&self) -> bool {
        self.label == PKCS8_LABEL || self.encryption.is_some()
    }

    /// The content in clear; `None` when the password is wrong.
    fn decrypt(&self, password: &str) -> Result<Option<Vec<u8>>, String> {
        let (algorithm, vector) = self.encryption.unwrap_or_default();
        let vector = bytes_of_hex(vector).ok_or("found a private key whose DEK-Info is broken")?;
        let plain = match algorithm {
            "AES-128-CBC" => self.decrypt_by::<cbc::Decryptor<aes::Aes128>>(password, &vector, 16),
            "AES-192-CBC" => self.decrypt_by::<cbc::Decryptor<aes::Aes192>>(password, &vector, 24),
            "AES-256-CBC" => self.decrypt_by::<cbc::Decryptor<aes::Aes256>>(password, &vector, 32),
            "DES-EDE3-CBC" => self.decrypt_by::<cbc::Decryptor<des::TdesEde3>>(password, &vector, 24),
            other => return Err(format!("found a private key encrypted by {other}, expected AES or triple DES")),
        };
        Ok(plain)
    }

    fn decrypt_by<C: KeyIvInit + BlockDecryptMut>(
        &self,
        password: &str,
        vector: &[u8],
        key_len: usize,
    ) -> Option<Vec<u8>> {
        // The salt of the key is the first half of the vector; OpenSSL's EVP_BytesToKey with MD5, once.
        let salt = vector.get(..8)?;
        let (mut key, mut last) = (Vec::new(), Vec::new());
        while key.len() < key_len {
            last = Md5::new().chain_update(&last).chain_update(password).chain_update(salt).finalize().to_vec();
            key.extend_from_slice(&last);
        }
        let cipher = C::new_from_slices(&key[..key_len], vector).ok()?;
        cipher.decrypt_padded_vec_mut::<Pkcs7>(&self.content).ok()
    }
}

/// Whether this is one DER sequence: one wrong password in 256 leaves padding that seems right.
fn looks_like_der(bytes: &[u8]) -> bool {
    let length = match *bytes {
        [0x30, short, ..] if short < 0x80 => usize::from(short) + 2,
        [0x30, 0x81, length, ..] => usize::from(length) + 3,
        [0x30, 0x82, high, low, ..] => usize::from(high) * 256 + usize::from(low) + 4,
        _ => return false,
    };
    length == bytes.len()
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // One key, `openssl ecparam -name prime256v1 -genkey`, and what `openssl ec` and `openssl pkcs8` made of it.
    const PLAIN: &str = "-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIOfSE86EncfUnpuIIY/7ygNqqyTmXi0oHfock5LwOVKUoAoGCCqGSM49
AwEHoUQDQgAEbBDCwOwd7RP6v2SvtgN4UPc/EIl8t7Oq6GLkAqqpHQI+P1MDI77R
BsMX60xv+I31U3pb/2SjKEmCBzPh9u2e8w==
-----END EC PRIVATE KEY-----";
    const PLAIN_PKCS8: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg59ITzoSdx9Sem4gh
j/vKA2qrJOZeLSgd+hyTkvA5UpShRANCAARsEMLA7B3tE/q/ZK+2A3hQ9z8QiXy3
s6roYuQCqqkdAj4/UwMjvtEGwxfrTG/4jfVTelv/ZKMoSYIHM+H27Z7z
-----END PRIVATE KEY-----";
    const AES_128: &str = "-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,5AA8608DD6BE400BB14F5D72BE0166D4

DHtBv98vhiEzBtHbmsQkYBHAfm2yksJgNr2K4C6thn/T+LL6CCCWpuG66YACBcWu
pu4rUrBqaBMzyFO/6JOILM73HO1eJHDStmF/ur+TIK3FzSXW1xmSu2w48R7YAV3S
PYmHcKeODuY8vz+BzjvMLHN+qqEvndpe1ZQbk/7BkZs=
-----END EC PRIVATE KEY-----";
    const AES_192: &str = "-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-192-CBC,C0EB9FE70397E0C61D6F2BD186251509

y0I/glHVyhG1WS7RU0s5XgWhEQxL3fgH75RYzgOHHnISh9bonVQMEU3mDqS4yVGI
ApYxYdx2u3nTMEQmE1dfy7Wc+XyN8A9pvANG8ifxv6jNTrpn9xG8h6aAwaB0zdSp
ARrTfzopG6jiu0Wh4GCjzqPS48SW3qiav1NrXtC/thg=
-----END EC PRIVATE KEY-----";
    const AES_256: &str = "-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,706CD1C7E87BF844FD569013F107740E

teNLBopBpHlgE3NJIbcTTLGtJoN0cV5hQHKH4AEoL2zumb6WNpO/YbJiXJTtfj91
Uu+Ss/7APj923hXsJwTD6EheXFGESWKCNN/opefeWjLboS/CsQmu2WC3m4wy4tHB
LrilcSCf+e4qrrXH0P2bAVTjhkctLXkjYft7doEEahA=
-----END EC PRIVATE KEY-----";
    const DES_EDE3: &str = "-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: DES-EDE3-CBC,A42435C6D47DBFAE

D26vYUMSlKC4wB7Nn8xRAzSZMUmTZCnZYMwAcPXhISIWq/dfsrrikk4QZEWnXnyc
8WqB0ScUpO1veUnRnGf53pxIxWe+5iktlkyiiTpuryUfdjpelLI9EeYXiHCu0Hro
e/9onKvCpAsEXoUFqxkTMxPVxnQwXhSkWqdMN4YSZNY=
-----END EC PRIVATE KEY-----";
    const PKCS8_AES: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHrMFYGCSqGSIb3DQEFDTBJMCgGCSqGSIb3DQEFDDAbBAh8igcW0GMSkAIBZDAM
BggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQT4ytCLzumyrXnNmoWtXIrgSBkOLK
AznubPVTuqDDoMKCCUzS3PuUhqOjQWvJUekZlVbUl+GRY8HAEzfuMl3012R3FB2D
a5xXXDl5rZ8NuNyvk7IXG38g1RzFAvUZVaIk3V0KPayNTMUOKi8jdutSpMZ1YO6L
9IhCENbS7TPO+PellC4qfRrwqvYOJXrQgBeAS/Bv4fP5T0mZK+rB1KQkFsSUoA==
-----END ENCRYPTED PRIVATE KEY-----";
    const PKCS8_DES3: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHiME0GCSqGSIb3DQEFDTBAMCgGCSqGSIb3DQEFDDAbBAi/a+Hf7t43sgIBZDAM
BggqhkiG9w0CCQUAMBQGCCqGSIb3DQMHBAhvZLeMohHJ2wSBkL5aZURpGGobAu7v
9Bkg34edCCZUrn97ghskccuMcODOFeILG9HnuGSQfybCiPAvi716yxdRjmffgOHo
InxAltXcz9yTn9TKJRZdzbJGSvCEQQZ8HLsgXLdKz10cQyzj64h6b6IrIYEgdroH
OkeHCquAqOMVPchmgSmvgtgZmFICxXd4+pxb4EsFZbdeMWUkyw==
-----END ENCRYPTED PRIVATE KEY-----";
    const PKCS8_SCRYPT: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHjME4GCSqGSIb3DQEFDTBBMCAGCSsGAQQB2kcECzATBAjEII9xIx0QkgIBEAIB
CAIBATAdBglghkgBZQMEASoEEAihy1NbKk5yiy7rH0M7d1EEgZA09qCGbEo2Ah4r
LUB80mTjKtHIrmtHnHGAAnpH/etmB9CYTWYx6ceaQCkQy1QraBie/KzoMY3lcFw8
Nx1Kh52LmGwLJynMODcgpLIKKedS/cihroxGVdEU3AmT/raZNZB8HagWAOBX2nVw
sLLYYFQOXF0HFnbgqMBcG1CdvoI7Ns9fw/IjzpW7MPFV9XkSnhI=
-----END ENCRYPTED PRIVATE KEY-----";

    #[test]
    fn encrypted_keys_are_read_with_their_password() {
        let plain = read(PLAIN, None).unwrap();
        for pem in [AES_128, AES_192, AES_256, DES_EDE3] {
            assert_eq!(read(pem, Some("secret")).unwrap(), plain, "{pem}");
        }
        let plain = read(PLAIN_PKCS8, Some("not needed")).unwrap();
        for pem in [PKCS8_AES, PKCS8_DES3, PKCS8_SCRYPT] {
            assert_eq!(read(&format!("some text\n{pem}"), Some("secret")).unwrap(), plain, "{pem}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for pem in [AES_256, DES_EDE3, PKCS8_AES] {
            assert!(read(pem, None).unwrap_err().ends_with("expected its password"));
            assert!((0..300).all(|n| read(AES_256, Some(&n.to_string())).is_err()), "no wrong password passes");
            let expected = "cannot decrypt the private key: the password is not the right one";
            assert_eq!(read(pem, Some("wrong")).unwrap_err(), expected);
        }
        assert!(read("", None).unwrap_err().starts_with("found no private key in `key`"));
        let other = AES_256.replace("AES-256-CBC", "DES-CBC");
        assert!(read(&other, Some("x")).unwrap_err().starts_with("found a private key encrypted by DES-CBC"));
        for cut in 0..PKCS8_AES.len() {
            assert!(read(&PKCS8_AES[..cut], Some("secret")).is_err() || cut > PKCS8_AES.len() - 40, "{cut}");
        }
    }
}
