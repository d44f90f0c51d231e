//! Keys and what they may be used for; no JavaScript.

use std::sync::Arc;

use rsa::{RsaPrivateKey, RsaPublicKey};

use super::algorithm::{CryptoAlgorithm, Hash};
use super::ec::{Curve, EcKey};
use crate::experimental::named_error::NamedError;

/// What a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Secret,
    Public,
    Private,
}

impl KeyKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            KeyKind::Secret => "secret",
            KeyKind::Public => "public",
            KeyKind::Private => "private",
        }
    }
}

/// The secret or public part itself.
#[derive(Clone)]
pub(super) enum Material {
    Secret(Vec<u8>),
    Ec(EcKey),
    RsaPublic(Box<RsaPublicKey>),
    RsaPrivate(Box<RsaPrivateKey>),
}

macro_rules! usages {
    ($($usage:ident $name:literal),*) => {
        /// What a key may be used for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Usage { $($usage),* }

        impl Usage {
            pub(super) const ALL: &'static [Usage] = &[$(Usage::$usage),*];

            pub(super) fn name(self) -> &'static str {
                match self { $(Usage::$usage => $name),* }
            }
        }
    };
}

usages!(
    Encrypt "encrypt", Decrypt "decrypt", Sign "sign", Verify "verify", DeriveKey "deriveKey", DeriveBits "deriveBits",
    WrapKey "wrapKey", UnwrapKey "unwrapKey"
);

impl Usage {
    pub(super) fn named(name: &str) -> Result<Usage, NamedError> {
        let found = Usage::ALL.iter().find(|usage| usage.name() == name).copied();
        found.ok_or_else(|| {
            let known: Vec<_> = Usage::ALL.iter().map(|usage| usage.name()).collect();
            NamedError::wrong(format!("'{name}' is not a usage of keys, expected one of {}", known.join(", ")))
        })
    }

    /// What keys of an algorithm may be used for.
    pub(super) fn allowed(algorithm: CryptoAlgorithm, kind: KeyKind) -> &'static [Usage] {
        use Usage::{Decrypt, DeriveBits, DeriveKey, Encrypt, Sign, UnwrapKey, Verify, WrapKey};
        match (algorithm, kind) {
            (CryptoAlgorithm::AesCbc | CryptoAlgorithm::AesCtr | CryptoAlgorithm::AesGcm, _) => {
                &[Encrypt, Decrypt, WrapKey, UnwrapKey]
            }
            (CryptoAlgorithm::AesKw, _) => &[WrapKey, UnwrapKey],
            (CryptoAlgorithm::Hmac, _) => &[Sign, Verify],
            (CryptoAlgorithm::Pbkdf2, _) | (CryptoAlgorithm::Ecdh, KeyKind::Private) => &[DeriveKey, DeriveBits],
            (CryptoAlgorithm::Ecdh, _) => &[],
            (CryptoAlgorithm::Ecdsa | CryptoAlgorithm::RsaPkcs1 | CryptoAlgorithm::RsaPss, KeyKind::Private) => &[Sign],
            (CryptoAlgorithm::Ecdsa | CryptoAlgorithm::RsaPkcs1 | CryptoAlgorithm::RsaPss, _) => &[Verify],
            (CryptoAlgorithm::RsaOaep, KeyKind::Private) => &[Decrypt, UnwrapKey],
            (CryptoAlgorithm::RsaOaep, _) => &[Encrypt, WrapKey],
            (CryptoAlgorithm::Sha(_), _) => &[],
        }
    }
}

/// A key.
#[derive(Clone)]
pub struct CryptoKey {
    pub(super) kind: KeyKind,
    pub(super) algorithm: CryptoAlgorithm,
    pub(super) extractable: bool,
    pub(super) usages: Vec<Usage>,
    /// Of HMAC and RSA.
    pub(super) hash: Option<Hash>,
    /// In bits, of AES and HMAC.
    pub(super) length: Option<u32>,
    pub(super) material: Arc<Material>,
}

impl CryptoKey {
    /// A secret key.
    pub(super) fn secret(algorithm: CryptoAlgorithm, hash: Option<Hash>, bytes: Vec<u8>) -> CryptoKey {
        let length = (algorithm != CryptoAlgorithm::Pbkdf2).then_some(bytes.len() as u32 * 8);
        CryptoKey { hash, length, ..CryptoKey::of(algorithm, KeyKind::Secret, Material::Secret(bytes)) }
    }

    /// A key of this material that may be used for nothing yet.
    pub(super) fn of(algorithm: CryptoAlgorithm, kind: KeyKind, material: Material) -> CryptoKey {
        let material = Arc::new(material);
        CryptoKey { kind, algorithm, extractable: true, usages: Vec::new(), hash: None, length: None, material }
    }

    /// The key that a script asked for, with the usages that are its own; secret and private keys need one.
    pub(super) fn granted(mut self, extractable: bool, usages: &[Usage]) -> Result<CryptoKey, NamedError> {
        let allowed = Usage::allowed(self.algorithm, self.kind);
        if let Some(wrong) = usages.iter().find(|usage| !allowed.contains(usage)) {
            let message = format!(
                "a {} key of {} cannot be used for '{}'",
                self.kind.name(),
                self.algorithm.name(),
                wrong.name()
            );
            return Err(NamedError::new("SyntaxError", message));
        }
        if usages.is_empty() && self.kind != KeyKind::Public {
            let message = format!("usages of a {} key cannot be empty", self.kind.name());
            return Err(NamedError::new("SyntaxError", message));
        }
        self.usages = Usage::ALL.iter().copied().filter(|usage| usages.contains(usage)).collect();
        self.extractable = extractable || self.kind == KeyKind::Public;
        Ok(self)
    }

    /// Both keys of a pair, each with those usages that are its own.
    pub(super) fn pair(
        private: CryptoKey,
        public: CryptoKey,
        extractable: bool,
        usages: &[Usage],
    ) -> Result<(CryptoKey, CryptoKey), NamedError> {
        let of = |key: &CryptoKey| Usage::allowed(key.algorithm, key.kind);
        let own = |key: &CryptoKey| usages.iter().copied().filter(|usage| of(key).contains(usage)).collect::<Vec<_>>();
        if let Some(wrong) = usages.iter().find(|usage| !of(&private).contains(usage) && !of(&public).contains(usage)) {
            let message = format!("keys of {} cannot be used for '{}'", private.algorithm.name(), wrong.name());
            return Err(NamedError::new("SyntaxError", message));
        }
        if usages.is_empty() {
            return Err(NamedError::new("SyntaxError", "usages of a private key cannot be empty"));
        }
        let (for_private, for_public) = (own(&private), own(&public));
        // Only verifying or encrypting: the private key may then be used for nothing, as in k6.
        let private = CryptoKey { usages: for_private, extractable, ..private };
        let public = CryptoKey { usages: for_public, extractable: true, ..public };
        Ok((private, public))
    }

    /// Refuses a use that the key is not for.
    pub(super) fn check(&self, algorithm: CryptoAlgorithm, usage: Usage) -> Result<(), NamedError> {
        if self.algorithm != algorithm {
            let message = format!(
                "{}() got the algorithm {}, but the key is one of {}",
                usage.name(),
                algorithm.name(),
                self.algorithm.name()
            );
            return Err(NamedError::new("InvalidAccessError", message));
        }
        if !self.usages.contains(&usage) {
            let message = format!("the key's usages do not contain '{}'", usage.name());
            return Err(NamedError::new("InvalidAccessError", message));
        }
        Ok(())
    }

    pub(super) fn secret_bytes(&self) -> Result<&[u8], NamedError> {
        match &*self.material {
            Material::Secret(bytes) => Ok(bytes),
            _ => Err(NamedError::new("InvalidAccessError", "the key is not a secret key")),
        }
    }

    pub(super) fn ec(&self) -> Result<&EcKey, NamedError> {
        match &*self.material {
            Material::Ec(key) => Ok(key),
            _ => Err(NamedError::new("InvalidAccessError", "the key is not one of an elliptic curve")),
        }
    }

    pub(super) fn curve(&self) -> Option<Curve> {
        match &*self.material {
            Material::Ec(key) => Some(key.curve),
            _ => None,
        }
    }
}
