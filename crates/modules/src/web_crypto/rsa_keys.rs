//! RSA: keys, signatures in both paddings, and OAEP.

use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use rsa::rand_core::OsRng;
use rsa::sha2::{Sha256, Sha384, Sha512};
use rsa::traits::{PrivateKeyParts, PublicKeyParts};
use rsa::{BigUint, Oaep, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};
use sha1::Sha1;

use super::algorithm::{CryptoAlgorithm, Hash};
use super::key::Material;
use crate::experimental::named_error::NamedError;

type RsaResult<T> = Result<T, NamedError>;

/// Runs the same code with the type of a hash function.
macro_rules! with {
    ($hash:expr, $digest:ident => $body:expr) => {
        match $hash {
            Hash::Sha1 => {
                type $digest = Sha1;
                $body
            }
            Hash::Sha256 => {
                type $digest = Sha256;
                $body
            }
            Hash::Sha384 => {
                type $digest = Sha384;
                $body
            }
            Hash::Sha512 => {
                type $digest = Sha512;
                $body
            }
        }
    };
}

fn failed(what: &str, why: impl std::fmt::Display) -> NamedError {
    NamedError::new("OperationError", format!("cannot {what}: {why}"))
}

fn unreadable(what: &str, why: impl std::fmt::Display) -> NamedError {
    NamedError::new("DataError", format!("the {what} is not an RSA key: {why}"))
}

fn not(kind: &str) -> NamedError {
    NamedError::new("InvalidAccessError", format!("the key is not a {kind} RSA key"))
}

/// How long keys may be that a script has made: longer ones take minutes.
const MODULUS_BITS: std::ops::RangeInclusive<u32> = 256..=16_384;

/// Refuses what no key can be made of.
pub(super) fn check(modulus_bits: u32, exponent: &[u8]) -> RsaResult<()> {
    if !MODULUS_BITS.contains(&modulus_bits) {
        let (least, most) = (MODULUS_BITS.start(), MODULUS_BITS.end());
        return Err(failed("make an RSA key", format!("modulusLength is {modulus_bits}, expected {least} to {most}")));
    }
    let exponent = BigUint::from_bytes_be(exponent);
    if exponent < BigUint::from(3_u8) || exponent.to_bytes_le()[0].is_multiple_of(2) || exponent.bits() > 33 {
        return Err(failed("make an RSA key", "publicExponent is not an odd number from 3 to 2^33"));
    }
    Ok(())
}

/// A new pair of keys; takes a fraction of a second to seconds.
pub(super) fn generate(modulus_bits: u32, exponent: &[u8]) -> RsaResult<(Material, Material)> {
    let exponent = BigUint::from_bytes_be(exponent);
    let private = RsaPrivateKey::new_with_exp(&mut OsRng, modulus_bits as usize, &exponent);
    let private = private.map_err(|why| failed("make an RSA key", why))?;
    let public = Material::RsaPublic(Box::new(private.to_public_key()));
    Ok((Material::RsaPrivate(Box::new(private)), public))
}

pub(super) fn from_spki(der: &[u8]) -> RsaResult<Material> {
    let key = RsaPublicKey::from_public_key_der(der).map_err(|why| unreadable("SPKI document", why))?;
    Ok(Material::RsaPublic(Box::new(key)))
}

pub(super) fn from_pkcs8(der: &[u8]) -> RsaResult<Material> {
    let key = RsaPrivateKey::from_pkcs8_der(der).map_err(|why| unreadable("PKCS #8 document", why))?;
    Ok(Material::RsaPrivate(Box::new(key)))
}

/// Of the numbers of a JSON Web Key: modulus and exponent, and for a private key the private exponent and primes.
pub(super) fn from_numbers(n: &[u8], e: &[u8], private: Option<(&[u8], Vec<&[u8]>)>) -> RsaResult<Material> {
    let number = BigUint::from_bytes_be;
    match private {
        None => {
            let key = RsaPublicKey::new(number(n), number(e)).map_err(|why| unreadable("JSON Web Key", why))?;
            Ok(Material::RsaPublic(Box::new(key)))
        }
        Some((d, primes)) => {
            let primes = primes.into_iter().map(number).collect();
            let key = RsaPrivateKey::from_components(number(n), number(e), number(d), primes);
            let mut key = key.map_err(|why| unreadable("JSON Web Key", why))?;
            key.precompute().map_err(|why| unreadable("JSON Web Key", why))?;
            Ok(Material::RsaPrivate(Box::new(key)))
        }
    }
}

impl Material {
    pub(super) fn rsa_public(&self) -> RsaResult<&RsaPublicKey> {
        match self {
            Material::RsaPublic(key) => Ok(key),
            _ => Err(not("public")),
        }
    }

    pub(super) fn rsa_private(&self) -> RsaResult<&RsaPrivateKey> {
        match self {
            Material::RsaPrivate(key) => Ok(key),
            _ => Err(not("private")),
        }
    }

    /// Its numbers, under their names in a JSON Web Key.
    pub(super) fn rsa_numbers(&self) -> Vec<(&'static str, Vec<u8>)> {
        let bytes = |number: &BigUint| number.to_bytes_be();
        match self {
            Material::RsaPublic(key) => vec![("n", bytes(key.n())), ("e", bytes(key.e()))],
            Material::RsaPrivate(key) => {
                let mut all = vec![("n", bytes(key.n())), ("e", bytes(key.e())), ("d", bytes(key.d()))];
                all.extend(["p", "q"].into_iter().zip(key.primes().iter().map(bytes)));
                all.extend(key.dp().map(|dp| ("dp", bytes(dp))));
                all.extend(key.dq().map(|dq| ("dq", bytes(dq))));
                all.extend(key.crt_coefficient().map(|qi| ("qi", bytes(&qi))));
                all
            }
            _ => Vec::new(),
        }
    }

    /// The length of the modulus in bits; of RSA keys alone.
    pub(super) fn rsa_bits(&self) -> Option<u32> {
        match self {
            Material::RsaPublic(key) => Some(key.n().bits() as u32),
            Material::RsaPrivate(key) => Some(key.n().bits() as u32),
            _ => None,
        }
    }

    pub(super) fn rsa_to_spki(&self) -> RsaResult<Vec<u8>> {
        let der = self.rsa_public()?.to_public_key_der().map_err(|why| failed("export the key", why))?;
        Ok(der.as_bytes().to_vec())
    }

    pub(super) fn rsa_to_pkcs8(&self) -> RsaResult<Vec<u8>> {
        let der = self.rsa_private()?.to_pkcs8_der().map_err(|why| failed("export the key", why))?;
        Ok(der.as_bytes().to_vec())
    }

    pub(super) fn rsa_sign(
        &self,
        algorithm: CryptoAlgorithm,
        hash: Hash,
        salt: usize,
        digest: &[u8],
    ) -> RsaResult<Vec<u8>> {
        let key = self.rsa_private()?;
        let signature = with!(hash, D => match algorithm {
            CryptoAlgorithm::RsaPss => key.sign_with_rng(&mut OsRng, Pss::new_with_salt::<D>(salt), digest),
            _ => key.sign_with_rng(&mut OsRng, Pkcs1v15Sign::new::<D>(), digest),
        });
        signature.map_err(|why| failed("sign", why))
    }

    pub(super) fn rsa_verify(
        &self,
        algorithm: CryptoAlgorithm,
        hash: Hash,
        salt: usize,
        digest: &[u8],
        signature: &[u8],
    ) -> RsaResult<bool> {
        let key = self.rsa_public()?;
        let verified = with!(hash, D => match algorithm {
            CryptoAlgorithm::RsaPss => key.verify(Pss::new_with_salt::<D>(salt), digest, signature),
            _ => key.verify(Pkcs1v15Sign::new::<D>(), digest, signature),
        });
        Ok(verified.is_ok())
    }

    pub(super) fn rsa_encrypt(&self, hash: Hash, label: Option<String>, text: &[u8]) -> RsaResult<Vec<u8>> {
        let coded = with!(hash, D => self.rsa_public()?.encrypt(&mut OsRng, oaep::<D>(label), text));
        coded.map_err(|why| failed("encrypt", why))
    }

    pub(super) fn rsa_decrypt(&self, hash: Hash, label: Option<String>, text: &[u8]) -> RsaResult<Vec<u8>> {
        let clear = with!(hash, D => self.rsa_private()?.decrypt_blinded(&mut OsRng, oaep::<D>(label), text));
        clear.map_err(|why| failed("decrypt", why))
    }
}

fn oaep<D>(label: Option<String>) -> Oaep
where
    D: 'static + hmac::digest::Digest + hmac::digest::DynDigest + Send + Sync,
{
    match label {
        Some(label) => Oaep::new_with_label::<D, _>(label),
        None => Oaep::new::<D>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sign_and_encrypt() {
        let (private, public) = generate(1024, &[1, 0, 1]).expect("the numbers are right");
        let digest = Hash::Sha256.digest(b"text");
        for algorithm in [CryptoAlgorithm::RsaPss, CryptoAlgorithm::RsaPkcs1] {
            let signature = private.rsa_sign(algorithm, Hash::Sha256, 20, &digest).expect("it is private");
            assert_eq!(public.rsa_verify(algorithm, Hash::Sha256, 20, &digest, &signature), Ok(true));
            assert_eq!(public.rsa_verify(algorithm, Hash::Sha256, 20, &[0; 32], &signature), Ok(false));
        }
        for label in [None, Some(String::from("l"))] {
            let coded = public.rsa_encrypt(Hash::Sha1, label.clone(), b"text").expect("it is short");
            assert_eq!(private.rsa_decrypt(Hash::Sha1, label, &coded), Ok(b"text".to_vec()));
            assert!(private.rsa_decrypt(Hash::Sha1, Some(String::from("other")), &coded).is_err());
        }
        let again = from_pkcs8(&private.rsa_to_pkcs8().expect("it is private")).expect("it was one");
        assert_eq!(again.rsa_private(), private.rsa_private());
        let again = from_spki(&public.rsa_to_spki().expect("it is public")).expect("it was one");
        assert_eq!(again.rsa_public(), public.rsa_public());
        assert_eq!(public.rsa_encrypt(Hash::Sha256, None, &[0; 200]).expect_err("too long").name, "OperationError");
    }

    #[test]
    fn wrong_numbers_are_refused() {
        for (bits, exponent) in [(100, vec![3]), (2048, vec![2]), (2048, vec![1]), (2048, vec![]), (20_000, vec![3])] {
            assert_eq!(check(bits, &exponent).expect_err("it is wrong").name, "OperationError");
        }
        assert_eq!(from_spki(b"no").err().map(|error| error.name), Some("DataError"));
    }
}
