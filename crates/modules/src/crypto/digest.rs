//! Digests and message authentication codes under the names that scripts use.
//!
//! A `Hasher` may be asked for its digest at any time and continues afterwards: reading is not consuming. Old functions
//! (MD4, MD5, SHA-1) are here because servers under test still ask for them.

use hmac::digest::{Digest, core_api::BlockSizeUser};
use hmac::{Mac, SimpleHmac};
use md4::Md4;
use md5::Md5;
use ripemd::Ripemd160;
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

use script::base64::Variant;

/// A digest in progress.
pub trait Hasher {
    /// Takes in more bytes.
    fn update(&mut self, bytes: &[u8]);
    /// The digest of everything taken in so far.
    fn digest(&self) -> Vec<u8>;
}

struct Unkeyed<D>(D);

impl<D: Digest + Clone> Hasher for Unkeyed<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn digest(&self) -> Vec<u8> {
        self.0.clone().finalize().to_vec()
    }
}

struct Keyed<D: Digest + BlockSizeUser>(SimpleHmac<D>);

impl<D: Digest + BlockSizeUser + Clone> Hasher for Keyed<D> {
    fn update(&mut self, bytes: &[u8]) {
        Mac::update(&mut self.0, bytes);
    }

    fn digest(&self) -> Vec<u8> {
        self.0.clone().finalize().into_bytes().to_vec()
    }
}

macro_rules! algorithms {
    ($($name:literal $variant:ident $digest:ty, $doc:literal;)*) => {
        /// A hash function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Algorithm { $(#[doc = $doc] $variant),* }

        impl Algorithm {
            /// All of them, with the name that scripts use.
            pub const ALL: &[(&'static str, Algorithm)] = &[$(($name, Algorithm::$variant)),*];

            /// A digest that has taken in nothing.
            pub fn hasher(self) -> Box<dyn Hasher> {
                match self { $(Algorithm::$variant => Box::new(Unkeyed(<$digest>::new()))),* }
            }

            /// An HMAC with this key that has taken in nothing. Keys of any length are allowed.
            pub fn keyed(self, key: &[u8]) -> Box<dyn Hasher> {
                const ANY: &str = "HMAC takes keys of any length";
                match self {
                    $(Algorithm::$variant => {
                        Box::new(Keyed(SimpleHmac::<$digest>::new_from_slice(key).expect(ANY)))
                    })*
                }
            }
        }
    };
}

algorithms! {
    "md4" Md4 Md4, "MD4, 16 bytes.";
    "md5" Md5 Md5, "MD5, 16 bytes.";
    "sha1" Sha1 Sha1, "SHA-1, 20 bytes.";
    "sha256" Sha256 Sha256, "SHA-256, 32 bytes.";
    "sha384" Sha384 Sha384, "SHA-384, 48 bytes.";
    "sha512" Sha512 Sha512, "SHA-512, 64 bytes.";
    "sha512_224" Sha512_224 Sha512_224, "SHA-512/224, 28 bytes.";
    "sha512_256" Sha512_256 Sha512_256, "SHA-512/256, 32 bytes.";
    "ripemd160" Ripemd160 Ripemd160, "RIPEMD-160, 20 bytes.";
}

impl Algorithm {
    /// The function of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }
}

/// How a digest is handed to the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputEncoding {
    /// Lower-case hexadecimal digits.
    Hex,
    /// base64 text.
    Base64(Variant),
    /// An ArrayBuffer.
    Binary,
}

impl OutputEncoding {
    /// The output of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "hex" => Some(OutputEncoding::Hex),
            "base64" => Some(OutputEncoding::Base64(Variant::Std)),
            "base64url" => Some(OutputEncoding::Base64(Variant::Url)),
            "base64rawurl" => Some(OutputEncoding::Base64(Variant::RawUrl)),
            "binary" => Some(OutputEncoding::Binary),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;

    #[test]
    fn digests_are_those_of_the_standards() {
        // Test vectors of the message "abc" from RFC 1320, RFC 1321, FIPS 180-4 and the RIPEMD-160 paper.
        for (name, expected) in [
            ("md4", "a448017aaf21d8525fc10ae87aa6729d"),
            ("md5", "900150983cd24fb0d6963f7d28e17f72"),
            ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ("sha512_224", "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa"),
            ("sha512_256", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
            ("ripemd160", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
        ] {
            let mut hasher = Algorithm::named(name).expect(name).hasher();
            hasher.update(b"a");
            hasher.digest();
            hasher.update(b"bc");
            assert_eq!(HEXLOWER.encode(&hasher.digest()), expected, "{name}");
        }
        assert_eq!(Algorithm::named("sha512").map(|a| a.hasher().digest().len()), Some(64));
        assert_eq!(Algorithm::named("sha384").map(|a| a.hasher().digest().len()), Some(48));
        assert_eq!(Algorithm::named("SHA256"), None);
    }

    #[test]
    fn codes_are_those_of_rfc_4231() {
        let mut mac = Algorithm::Sha256.keyed(b"Jefe");
        mac.update(b"what do ya want ");
        mac.update(b"for nothing?");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(HEXLOWER.encode(&mac.digest()), expected);
        let long = [0xaa; 131];
        let mut mac = Algorithm::Sha256.keyed(&long);
        mac.update(b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert_eq!(HEXLOWER.encode(&mac.digest()), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }
}
