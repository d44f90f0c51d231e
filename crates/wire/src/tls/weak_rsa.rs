//! Signatures of RSA keys from 1024 up to 2047 bits, which Go accepts and the TLS library does not.
//!
//! Each RSA algorithm of the library is wrapped: keys of 2048 bits and more go to the library as before, shorter ones
//! are verified here, by RFC 8017. Keys below 1024 bits are refused, as Go refuses them. Nothing secret is computed
//! with: all of this is verification with public keys. SHA-1 stays unknown, so what it signed stays refused.

use std::sync::OnceLock;

use num_bigint::BigUint;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id};
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::der::asn1::UintRef;
use x509_cert::der::{Decode, Reader, SliceReader};

/// Go's least.
const LEAST_BITS: usize = 1024;
/// The library's least.
const LIBRARY_BITS: usize = 2048;

type Verification = &'static dyn SignatureVerificationAlgorithm;

/// The library's algorithms, with RSA down to 1024 bits.
pub(crate) fn algorithms() -> WebPkiSupportedAlgorithms {
    static MADE: OnceLock<WebPkiSupportedAlgorithms> = OnceLock::new();
    *MADE.get_or_init(|| {
        let library = rustls::crypto::ring::default_provider().signature_verification_algorithms;
        // Leaked once a process: the library wants them to live as long.
        let all: Vec<Verification> = library.all.iter().map(|algorithm| widened(*algorithm)).collect();
        let mapping = library.mapping.iter().map(|(scheme, algorithms)| {
            let algorithms: Vec<Verification> = algorithms.iter().map(|algorithm| widened(*algorithm)).collect();
            (*scheme, &*algorithms.leak())
        });
        WebPkiSupportedAlgorithms { all: all.leak(), mapping: mapping.collect::<Vec<_>>().leak() }
    })
}

fn widened(library: Verification) -> Verification {
    let (signature, key) = (library.signature_alg_id(), library.public_key_alg_id());
    let scheme = SCHEMES.iter().find(|scheme| scheme.id == signature && key == alg_id::RSA_ENCRYPTION);
    match scheme {
        Some(scheme) => Box::leak(Box::new(Widened { library, scheme })),
        None => library,
    }
}

/// How the message of a signature is padded, and which it is.
#[derive(Debug)]
struct Scheme {
    id: AlgorithmIdentifier,
    /// Whether an encoded message, of a key of this many bits, is this one.
    matches: fn(encoded: &[u8], bits: usize, message: &[u8]) -> bool,
}

/// DER of the DigestInfo before the digest itself (RFC 8017 9.2).
const SHA256_INFO: &[u8] = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";
const SHA384_INFO: &[u8] = b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30";
const SHA512_INFO: &[u8] = b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40";

const SCHEMES: &[Scheme] = &[
    Scheme { id: alg_id::RSA_PKCS1_SHA256, matches: |e, _, m| is_pkcs1::<Sha256>(e, SHA256_INFO, m) },
    Scheme { id: alg_id::RSA_PKCS1_SHA384, matches: |e, _, m| is_pkcs1::<Sha384>(e, SHA384_INFO, m) },
    Scheme { id: alg_id::RSA_PKCS1_SHA512, matches: |e, _, m| is_pkcs1::<Sha512>(e, SHA512_INFO, m) },
    Scheme { id: alg_id::RSA_PSS_SHA256, matches: is_pss::<Sha256> },
    Scheme { id: alg_id::RSA_PSS_SHA384, matches: is_pss::<Sha384> },
    Scheme { id: alg_id::RSA_PSS_SHA512, matches: is_pss::<Sha512> },
];

/// RSASSA-PKCS1-v1_5: the one right encoding is made and compared.
fn is_pkcs1<D: Digest>(encoded: &[u8], info: &[u8], message: &[u8]) -> bool {
    let told = [info, &D::digest(message)].concat();
    // Two bytes, at least eight of padding, a zero.
    let Some(padding) = encoded.len().checked_sub(told.len() + 3).filter(|padding| *padding >= 8) else {
        return false;
    };
    let right = [&[0, 1][..], &vec![0xff; padding], &[0], &told].concat();
    encoded == right
}

/// RSASSA-PSS with MGF1 of the same hash and a salt as long as it (RFC 8017 9.1.2), as TLS has it (RFC 8446 4.2.3).
fn is_pss<D: Digest>(encoded: &[u8], bits: usize, message: &[u8]) -> bool {
    let (digest, hash) = (D::digest(message), <D as Digest>::output_size());
    let message_bits = bits - 1;
    // A modulus of 8n + 1 bits leaves the first byte empty.
    let (empty, encoded) = encoded.split_at(encoded.len() - message_bits.div_ceil(8));
    if empty.iter().any(|byte| *byte != 0) || encoded.len() < 2 * hash + 2 {
        return false;
    }
    let (masked, rest) = encoded.split_at(encoded.len() - hash - 1);
    let (check, trailer) = rest.split_at(hash);
    let spare = 8 * encoded.len() - message_bits;
    let unused = !(0xff_u8 >> spare);
    if trailer != [0xbc] || masked[0] & unused != 0 {
        return false;
    }
    let mut block: Vec<u8> =
        masked.iter().zip(mask::<D>(check, masked.len())).map(|(byte, mask)| byte ^ mask).collect();
    block[0] &= !unused;
    let (padding, salt) = block.split_at(block.len() - hash);
    let is_padding = padding.split_last().is_some_and(|(one, zeros)| *one == 1 && zeros.iter().all(|byte| *byte == 0));
    is_padding && *D::digest([&[0; 8][..], &digest, salt].concat()) == *check
}

/// MGF1 (RFC 8017 B.2.1).
fn mask<D: Digest>(seed: &[u8], length: usize) -> Vec<u8> {
    let blocks = (0_u32..).flat_map(|count| D::digest([seed, &count.to_be_bytes()].concat()).to_vec());
    blocks.take(length).collect()
}

/// Modulus and exponent of an RSAPublicKey (RFC 8017 A.1.1).
fn parse(key: &[u8]) -> Option<(BigUint, BigUint)> {
    let mut reader = SliceReader::new(key).ok()?;
    let numbers = reader.sequence(|reader| Ok((UintRef::decode(reader)?, UintRef::decode(reader)?)));
    let (modulus, exponent) = numbers.ok()?;
    Some((BigUint::from_bytes_be(modulus.as_bytes()), BigUint::from_bytes_be(exponent.as_bytes())))
}

/// The message that a signature encodes, as long as the modulus.
fn open(signature: &[u8], modulus: &BigUint, exponent: &BigUint) -> Option<Vec<u8>> {
    let length = usize::try_from(modulus.bits().div_ceil(8)).ok()?;
    let number = BigUint::from_bytes_be(signature);
    if signature.len() != length || number >= *modulus {
        return None;
    }
    let encoded = number.modpow(exponent, modulus).to_bytes_be();
    Some([vec![0; length - encoded.len()], encoded].concat())
}

/// An algorithm of the library and what it does not do.
#[derive(Debug)]
struct Widened {
    library: Verification,
    scheme: &'static Scheme,
}

impl SignatureVerificationAlgorithm for Widened {
    fn verify_signature(&self, key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let short = parse(key).and_then(|(modulus, exponent)| {
            let bits = usize::try_from(modulus.bits()).ok().filter(|bits| (LEAST_BITS..LIBRARY_BITS).contains(bits))?;
            Some((open(signature, &modulus, &exponent), bits))
        });
        match short {
            None => self.library.verify_signature(key, message, signature),
            Some((Some(encoded), bits)) if (self.scheme.matches)(&encoded, bits, message) => Ok(()),
            Some(_) => Err(InvalidSignature),
        }
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.library.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.library.signature_alg_id()
    }
}

#[cfg(test)]
mod tests {
    use rustls::SignatureScheme;

    use super::*;

    const MESSAGE: &[u8] = b"signed by a short key";
    /// Made by openssl: a key of 1024 bits, what it signed in both ways, and the same of 512 bits.
    const KEY: &str = "\
        30818902818100c6d83e1aed248a65eb298fb70efdbf33b0a48e5fc8c64291148c0bc61c5003c8a9b24ffde0d63663aaca82\
        c3f237f577623030dc073cae152e8a13514a6a512074ce1071c58a8379bf496606fd1aed248cccd68a02c4f8645de9d12163\
        66cd2298434f0bec2461732aaa8aab502ab9dffe0dfec5dc01f881a058b2fa62b396bf0203010001";
    const PKCS1: &str = "\
        57b6b20f4a12ca9ce4ae2d48849a97453971d542d03d218e629ed7b426f9af1888cca5f56f91542c824250856f66a291792d\
        a7dd70b8f9c3900d29ceb9ee52811f16242f6c1dd19a930435cd6c5086b750e58ddd0a7f3fc77c1cb9a7d4e2a43f4d1d192a\
        dcf30bf1c6be3a3137e4d349e1469371ee502e312323c2d77ebccf6e";
    const PSS: &str = "\
        6978151bd218e6cc20a3bf0aaf3e3b6bacfcbbbe6fb3320e2b1eba3942628972698ae66763a50e8090149a6043440a532206\
        561c66da2c589df23bc6dc887871eb465c0a8f677bf59d6452c9b77cb916e7980283376742c16c256be24d473fdcc5ee0f64\
        e64e2bf29447e531a2721e3e107f7921aaeecf4d07ee0b47fbc2302e";
    const SHORTER_KEY: &str = "\
        3048024100cc191f9f4b9bdf23e40a3e190006e8bbabb25501bff689a3dacc6184f1d19b64ed31f10ed82f3a5b550539ebc7\
        dacfd1d36df433995ece14bfbab69da6b4c5b50203010001";
    const SHORTER: &str = "\
        69379a87018e3c81efb2a4a528104542c1bd53fa0b5078c1be8632903084c36e6b4de8cd896263d896c4b27a773e6377f6a2\
        89c51487abb7ccc617ae0fada1ae";

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    fn accepts(scheme: SignatureScheme, key: &str, message: &[u8], signature: &str) -> bool {
        let algorithms = algorithms();
        let (_, fitting) = algorithms.mapping.iter().find(|(known, _)| *known == scheme).unwrap();
        fitting.iter().any(|algorithm| algorithm.verify_signature(&bytes(key), message, &bytes(signature)).is_ok())
    }

    #[test]
    fn keys_of_1024_bits_are_verified_and_shorter_ones_refused() {
        use SignatureScheme as S;
        assert!(accepts(S::RSA_PKCS1_SHA256, KEY, MESSAGE, PKCS1));
        assert!(accepts(S::RSA_PSS_SHA256, KEY, MESSAGE, PSS));
        assert!(!accepts(S::RSA_PKCS1_SHA256, KEY, b"something else", PKCS1));
        assert!(!accepts(S::RSA_PSS_SHA256, KEY, b"something else", PSS));
        assert!(!accepts(S::RSA_PSS_SHA256, KEY, MESSAGE, PKCS1));
        assert!(!accepts(S::RSA_PKCS1_SHA384, KEY, MESSAGE, PKCS1));
        assert!(!accepts(S::RSA_PKCS1_SHA256, SHORTER_KEY, MESSAGE, SHORTER));
    }
}
