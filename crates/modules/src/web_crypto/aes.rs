//! AES in its three modes.
//!
//! GCM with keys of 128 and 256 bits and a whole tag is ring's, which is several times as fast over long texts; the
//! rest is RustCrypto's.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::consts::{U12, U13, U14, U15, U16};
use aes::cipher::{BlockDecryptMut, BlockEncryptMut, KeyIvInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::AeadInPlace;
use aes_gcm::{AesGcm, KeyInit};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::experimental::named_error::NamedError;

type Ciphered = Result<Vec<u8>, NamedError>;

fn failed(message: impl Into<String>) -> NamedError {
    NamedError::new("OperationError", message)
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Encrypt,
    Decrypt,
}

/// What a mode wants besides key and text.
pub(super) enum Mode {
    Cbc { iv: Vec<u8> },
    Ctr { counter: Vec<u8> },
    Gcm { iv: Vec<u8>, additional: Vec<u8>, tag_bits: u32 },
}

impl Mode {
    /// Applies it to a text, in place where that is possible.
    pub(super) fn apply(&self, direction: Direction, key: &[u8], text: Vec<u8>) -> Ciphered {
        match self {
            Mode::Cbc { iv } => cbc(direction, key, iv, &text),
            Mode::Ctr { counter } => ctr(key, counter, text),
            Mode::Gcm { iv, additional, tag_bits } => gcm(direction, key, iv, additional, *tag_bits, text),
        }
    }

    /// A vector of the right length is 16 bytes long, but for GCM.
    pub(super) fn check(&self) -> Result<(), NamedError> {
        let (what, bytes) = match self {
            Mode::Cbc { iv } => ("iv", iv),
            Mode::Ctr { counter } => ("counter", counter),
            Mode::Gcm { iv, .. } if iv.len() != 12 => {
                let message = format!("AES-GCM with an iv of {} bytes is not supported, expected 12", iv.len());
                return Err(NamedError::new("NotSupportedError", message));
            }
            Mode::Gcm { tag_bits: 32 | 64, .. } => {
                return Err(NamedError::new("NotSupportedError", "tags of 32 and 64 bits are not supported"));
            }
            Mode::Gcm { tag_bits, .. } if ![96, 104, 112, 120, 128].contains(tag_bits) => {
                let message = format!("tagLength is {tag_bits}, expected 96, 104, 112, 120 or 128");
                return Err(failed(message));
            }
            Mode::Gcm { .. } => return Ok(()),
        };
        match bytes.len() {
            16 => Ok(()),
            length => Err(failed(format!("the {what} has {length} bytes, expected 16"))),
        }
    }
}

const LENGTHS: &str = "keys of AES have 16, 24 or 32 bytes, which was checked";

fn cbc(direction: Direction, key: &[u8], iv: &[u8], text: &[u8]) -> Ciphered {
    macro_rules! with {
        ($aes:ty) => {
            match direction {
                Direction::Encrypt => {
                    let cipher = cbc::Encryptor::<$aes>::new_from_slices(key, iv).expect(LENGTHS);
                    Ok(cipher.encrypt_padded_vec_mut::<Pkcs7>(text))
                }
                Direction::Decrypt => {
                    let cipher = cbc::Decryptor::<$aes>::new_from_slices(key, iv).expect(LENGTHS);
                    let done = cipher.decrypt_padded_vec_mut::<Pkcs7>(text);
                    done.map_err(|_| failed("cannot decrypt: the key, the iv or the text is another one"))
                }
            }
        };
    }
    match key.len() {
        16 => with!(Aes128),
        24 => with!(Aes192),
        _ => with!(Aes256),
    }
}

fn ctr(key: &[u8], counter: &[u8], mut text: Vec<u8>) -> Ciphered {
    macro_rules! with {
        ($aes:ty) => {
            ctr::Ctr128BE::<$aes>::new_from_slices(key, counter).expect(LENGTHS).apply_keystream(&mut text)
        };
    }
    match key.len() {
        16 => with!(Aes128),
        24 => with!(Aes192),
        _ => with!(Aes256),
    }
    Ok(text)
}

fn gcm(direction: Direction, key: &[u8], iv: &[u8], additional: &[u8], tag_bits: u32, mut text: Vec<u8>) -> Ciphered {
    if direction == Direction::Decrypt && text.len() < tag_bits as usize / 8 {
        return Err(failed("cannot decrypt: the text is shorter than its tag"));
    }
    let wrong = || failed("cannot decrypt: the key, the iv, the additional data or the text is another one");
    if tag_bits == 128 && key.len() != 24 {
        let algorithm = if key.len() == 16 { &AES_128_GCM } else { &AES_256_GCM };
        let key = LessSafeKey::new(UnboundKey::new(algorithm, key).expect(LENGTHS));
        let nonce = Nonce::try_assume_unique_for_key(iv).expect("it has 12 bytes, which was checked");
        match direction {
            Direction::Encrypt => {
                let sealed = key.seal_in_place_append_tag(nonce, Aad::from(additional), &mut text);
                sealed.map_err(|_| failed("the text is too long for AES-GCM"))?;
            }
            Direction::Decrypt => {
                let length = key.open_in_place(nonce, Aad::from(additional), &mut text).map_err(|_| wrong())?.len();
                text.truncate(length);
            }
        }
        return Ok(text);
    }
    macro_rules! with {
        ($aes:ty, $tag:ty) => {{
            let cipher = AesGcm::<$aes, U12, $tag>::new_from_slice(key).expect(LENGTHS);
            match direction {
                Direction::Encrypt => cipher
                    .encrypt_in_place(iv.into(), additional, &mut text)
                    .map_err(|_| failed("the text is too long for AES-GCM"))?,
                Direction::Decrypt => cipher.decrypt_in_place(iv.into(), additional, &mut text).map_err(|_| wrong())?,
            }
        }};
        ($tag:ty) => {
            match key.len() {
                16 => with!(Aes128, $tag),
                24 => with!(Aes192, $tag),
                _ => with!(Aes256, $tag),
            }
        };
    }
    match tag_bits {
        96 => with!(U12),
        104 => with!(U13),
        112 => with!(U14),
        120 => with!(U15),
        _ => with!(U16),
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes() -> Vec<Mode> {
        let gcm = |tag_bits| Mode::Gcm { iv: vec![1; 12], additional: vec![9], tag_bits };
        vec![Mode::Cbc { iv: vec![1; 16] }, Mode::Ctr { counter: vec![1; 16] }, gcm(128), gcm(96), gcm(120)]
    }

    #[test]
    fn texts_come_back() {
        for mode in modes() {
            mode.check().expect("all are right");
            for length in [16, 24, 32] {
                let (key, text) = (vec![7; length], vec![5; 100]);
                let coded = mode.apply(Direction::Encrypt, &key, text.clone()).expect("it can be encrypted");
                assert_ne!(&coded[..100], &text[..]);
                assert_eq!(mode.apply(Direction::Decrypt, &key, coded), Ok(text));
            }
        }
    }

    #[test]
    fn gcm_is_that_of_nist() {
        // Test case 13 of the specification of GCM: a key and an iv of zeros, no text.
        let mode = Mode::Gcm { iv: vec![0; 12], additional: Vec::new(), tag_bits: 128 };
        let tag = mode.apply(Direction::Encrypt, &[0; 32], Vec::new()).expect("it can be encrypted");
        assert_eq!(data_encoding::HEXLOWER.encode(&tag), "530f8afbc74536b9a963b4f1c4cb738b");
        // A shorter tag is the beginning of the whole one; RustCrypto makes it.
        let mode = Mode::Gcm { iv: vec![0; 12], additional: Vec::new(), tag_bits: 96 };
        assert_eq!(mode.apply(Direction::Encrypt, &[0; 32], Vec::new()), Ok(tag[..12].to_vec()));
    }

    #[test]
    fn spoiled_texts_are_refused() {
        for mode in modes().into_iter().filter(|mode| !matches!(mode, Mode::Ctr { .. })) {
            for text in [vec![], vec![1; 5], vec![1; 64]] {
                let error = mode.apply(Direction::Decrypt, &[7; 16], text).expect_err("nobody encrypted it");
                assert_eq!(error.name, "OperationError");
            }
        }
    }
}
