//! The algorithms that `crypto.subtle` knows, by name.

use crate::crypto::digest;
use crate::experimental::named_error::NamedError;

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    pub(super) const ALL: [Hash; 4] = [Hash::Sha1, Hash::Sha256, Hash::Sha384, Hash::Sha512];

    pub(super) fn name(self) -> &'static str {
        match self {
            Hash::Sha1 => "SHA-1",
            Hash::Sha256 => "SHA-256",
            Hash::Sha384 => "SHA-384",
            Hash::Sha512 => "SHA-512",
        }
    }

    /// Its name in the `alg` of a JSON Web Key.
    pub(super) fn number(self) -> &'static str {
        &self.name()[4..]
    }

    /// Bytes that it takes in at once, which is the length of an HMAC key that nobody chose.
    pub(super) fn block(self) -> usize {
        match self {
            Hash::Sha1 | Hash::Sha256 => 64,
            Hash::Sha384 | Hash::Sha512 => 128,
        }
    }

    fn of_digest(self) -> digest::Algorithm {
        match self {
            Hash::Sha1 => digest::Algorithm::Sha1,
            Hash::Sha256 => digest::Algorithm::Sha256,
            Hash::Sha384 => digest::Algorithm::Sha384,
            Hash::Sha512 => digest::Algorithm::Sha512,
        }
    }

    pub(super) fn digest(self, bytes: &[u8]) -> Vec<u8> {
        let mut hasher = self.of_digest().hasher();
        hasher.update(bytes);
        hasher.digest()
    }

    pub(super) fn code(self, key: &[u8], bytes: &[u8]) -> Vec<u8> {
        let mut hasher = self.of_digest().keyed(key);
        hasher.update(bytes);
        hasher.digest()
    }
}

/// What a script names in the first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CryptoAlgorithm {
    AesCbc,
    AesCtr,
    AesGcm,
    AesKw,
    Ecdh,
    Ecdsa,
    Hmac,
    Pbkdf2,
    RsaOaep,
    RsaPkcs1,
    RsaPss,
    Sha(Hash),
}

impl CryptoAlgorithm {
    const KEYED: [CryptoAlgorithm; 11] = [
        CryptoAlgorithm::AesCbc,
        CryptoAlgorithm::AesCtr,
        CryptoAlgorithm::AesGcm,
        CryptoAlgorithm::AesKw,
        CryptoAlgorithm::Ecdh,
        CryptoAlgorithm::Ecdsa,
        CryptoAlgorithm::Hmac,
        CryptoAlgorithm::Pbkdf2,
        CryptoAlgorithm::RsaOaep,
        CryptoAlgorithm::RsaPkcs1,
        CryptoAlgorithm::RsaPss,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            CryptoAlgorithm::AesCbc => "AES-CBC",
            CryptoAlgorithm::AesCtr => "AES-CTR",
            CryptoAlgorithm::AesGcm => "AES-GCM",
            CryptoAlgorithm::AesKw => "AES-KW",
            CryptoAlgorithm::Ecdh => "ECDH",
            CryptoAlgorithm::Ecdsa => "ECDSA",
            CryptoAlgorithm::Hmac => "HMAC",
            CryptoAlgorithm::Pbkdf2 => "PBKDF2",
            CryptoAlgorithm::RsaOaep => "RSA-OAEP",
            CryptoAlgorithm::RsaPkcs1 => "RSASSA-PKCS1-v1_5",
            CryptoAlgorithm::RsaPss => "RSA-PSS",
            CryptoAlgorithm::Sha(hash) => hash.name(),
        }
    }

    /// The algorithm of this name in any case, for an operation that knows some of them.
    pub(super) fn named(
        name: &str,
        operation: &str,
        knows: fn(CryptoAlgorithm) -> bool,
    ) -> Result<CryptoAlgorithm, NamedError> {
        let all =
            || CryptoAlgorithm::KEYED.into_iter().chain(Hash::ALL.map(CryptoAlgorithm::Sha)).filter(|one| knows(*one));
        all().find(|one| one.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known: Vec<_> = all().map(CryptoAlgorithm::name).collect();
            let message =
                format!("{operation}() does not support the algorithm '{name}', expected one of {}", known.join(", "));
            NamedError::new("NotSupportedError", message)
        })
    }

    pub(super) fn is_aes(self) -> bool {
        matches!(
            self,
            CryptoAlgorithm::AesCbc | CryptoAlgorithm::AesCtr | CryptoAlgorithm::AesGcm | CryptoAlgorithm::AesKw
        )
    }

    pub(super) fn is_rsa(self) -> bool {
        matches!(self, CryptoAlgorithm::RsaOaep | CryptoAlgorithm::RsaPkcs1 | CryptoAlgorithm::RsaPss)
    }

    pub(super) fn is_ec(self) -> bool {
        matches!(self, CryptoAlgorithm::Ecdh | CryptoAlgorithm::Ecdsa)
    }
}
