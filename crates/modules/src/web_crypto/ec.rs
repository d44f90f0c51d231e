//! The elliptic curves P-256, P-384 and P-521: keys, ECDSA, ECDH. Keys are kept as bytes, so that one type holds all.

use p256::elliptic_curve::sec1::ToEncodedPoint;
use p256::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use rsa::rand_core::OsRng;
use rsa::signature::hazmat::{PrehashSigner, PrehashVerifier};

use crate::experimental::named_error::NamedError;

type Computed<T> = Result<T, NamedError>;

/// A curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    P384,
    P521,
}

/// A key: the point, and for a private one the scalar.
#[derive(Clone)]
pub(super) struct EcKey {
    pub(super) curve: Curve,
    /// Uncompressed: 4, x, y.
    pub(super) point: Vec<u8>,
    pub(super) scalar: Option<Vec<u8>>,
}

/// Runs the same code with the crate of a curve.
macro_rules! on {
    ($curve:expr, $lib:ident => $body:expr) => {
        match $curve {
            Curve::P256 => {
                use p256 as $lib;
                $body
            }
            Curve::P384 => {
                use p384 as $lib;
                $body
            }
            Curve::P521 => {
                use p521 as $lib;
                $body
            }
        }
    };
}

fn unreadable(what: &str, curve: Curve) -> NamedError {
    NamedError::new("DataError", format!("the {what} is not a key of the curve {}", curve.name()))
}

impl Curve {
    const ALL: [Curve; 3] = [Curve::P256, Curve::P384, Curve::P521];

    pub(super) fn name(self) -> &'static str {
        match self {
            Curve::P256 => "P-256",
            Curve::P384 => "P-384",
            Curve::P521 => "P-521",
        }
    }

    pub(super) fn named(name: &str) -> Computed<Curve> {
        Curve::ALL.into_iter().find(|curve| curve.name() == name).ok_or_else(|| {
            let message = format!("the elliptic curve '{name}' is not supported, expected P-256, P-384 or P-521");
            NamedError::new("NotSupportedError", message)
        })
    }

    /// Bytes of a coordinate.
    pub(super) fn bytes(self) -> usize {
        match self {
            Curve::P256 => 32,
            Curve::P384 => 48,
            Curve::P521 => 66,
        }
    }
}

impl EcKey {
    /// A new private key.
    pub(super) fn generate(curve: Curve) -> EcKey {
        on!(curve, lib => {
            let secret = lib::SecretKey::random(&mut OsRng);
            let point = secret.public_key().to_encoded_point(false).as_bytes().to_vec();
            EcKey { curve, point, scalar: Some(secret.to_bytes().to_vec()) }
        })
    }

    /// The public half.
    pub(super) fn public(&self) -> EcKey {
        EcKey { scalar: None, ..self.clone() }
    }

    pub(super) fn from_scalar(curve: Curve, scalar: &[u8]) -> Computed<EcKey> {
        on!(curve, lib => {
            let secret = lib::SecretKey::from_slice(scalar).map_err(|_| unreadable("number", curve))?;
            let point = secret.public_key().to_encoded_point(false).as_bytes().to_vec();
            Ok(EcKey { curve, point, scalar: Some(secret.to_bytes().to_vec()) })
        })
    }

    pub(super) fn from_point(curve: Curve, point: &[u8]) -> Computed<EcKey> {
        on!(curve, lib => {
            let key = lib::PublicKey::from_sec1_bytes(point).map_err(|_| unreadable("point", curve))?;
            Ok(EcKey { curve, point: key.to_encoded_point(false).as_bytes().to_vec(), scalar: None })
        })
    }

    pub(super) fn from_pkcs8(curve: Curve, der: &[u8]) -> Computed<EcKey> {
        on!(curve, lib => {
            let secret = lib::SecretKey::from_pkcs8_der(der).map_err(|_| unreadable("PKCS #8 document", curve))?;
            EcKey::from_scalar(curve, &secret.to_bytes())
        })
    }

    pub(super) fn from_spki(curve: Curve, der: &[u8]) -> Computed<EcKey> {
        on!(curve, lib => {
            let key = lib::PublicKey::from_public_key_der(der).map_err(|_| unreadable("SPKI document", curve))?;
            Ok(EcKey { curve, point: key.to_encoded_point(false).as_bytes().to_vec(), scalar: None })
        })
    }

    pub(super) fn to_pkcs8(&self) -> Computed<Vec<u8>> {
        on!(self.curve, lib => {
            let secret = lib::SecretKey::from_slice(self.scalar()?).map_err(|_| unreadable("number", self.curve))?;
            let der = secret.to_pkcs8_der().map_err(|_| unreadable("number", self.curve))?;
            Ok(der.as_bytes().to_vec())
        })
    }

    pub(super) fn to_spki(&self) -> Computed<Vec<u8>> {
        on!(self.curve, lib => {
            let key = lib::PublicKey::from_sec1_bytes(&self.point).map_err(|_| unreadable("point", self.curve))?;
            let der = key.to_public_key_der().map_err(|_| unreadable("point", self.curve))?;
            Ok(der.as_bytes().to_vec())
        })
    }

    fn scalar(&self) -> Computed<&[u8]> {
        let refusal = || NamedError::new("InvalidAccessError", "the key is not a private key of an elliptic curve");
        self.scalar.as_deref().ok_or_else(refusal)
    }

    /// A signature of a digest: r and s.
    pub(super) fn sign(&self, digest: &[u8]) -> Computed<Vec<u8>> {
        let failed = || NamedError::new("OperationError", "cannot sign with this key");
        let digest = self.lengthened(digest);
        on!(self.curve, lib => {
            let key = lib::ecdsa::SigningKey::from_slice(self.scalar()?).map_err(|_| failed())?;
            let signature: lib::ecdsa::Signature = key.sign_prehash(&digest).map_err(|_| failed())?;
            Ok(signature.to_bytes().to_vec())
        })
    }

    pub(super) fn verify(&self, digest: &[u8], signature: &[u8]) -> Computed<bool> {
        let digest = self.lengthened(digest);
        on!(self.curve, lib => {
            let key = lib::ecdsa::VerifyingKey::from_sec1_bytes(&self.point);
            let key = key.map_err(|_| unreadable("point", self.curve))?;
            let Ok(signature) = lib::ecdsa::Signature::from_slice(signature) else { return Ok(false) };
            Ok(key.verify_prehash(&digest, &signature).is_ok())
        })
    }

    /// Zeros in front change no number; the crates refuse digests of less than half a coordinate.
    fn lengthened(&self, digest: &[u8]) -> Vec<u8> {
        let missing = self.curve.bytes().saturating_sub(digest.len());
        [&vec![0; missing][..], digest].concat()
    }

    /// The secret that both sides of an exchange have.
    pub(super) fn agree(&self, other: &EcKey) -> Computed<Vec<u8>> {
        if self.curve != other.curve {
            let message = format!("the keys are of the curves {} and {}", self.curve.name(), other.curve.name());
            return Err(NamedError::new("InvalidAccessError", message));
        }
        on!(self.curve, lib => {
            let secret = lib::SecretKey::from_slice(self.scalar()?).map_err(|_| unreadable("number", self.curve))?;
            let public = lib::PublicKey::from_sec1_bytes(&other.point).map_err(|_| unreadable("point", self.curve))?;
            let shared = lib::ecdh::diffie_hellman(secret.to_nonzero_scalar(), public.as_affine());
            Ok(shared.raw_secret_bytes().to_vec())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_and_agree() {
        for curve in Curve::ALL {
            let (one, other) = (EcKey::generate(curve), EcKey::generate(curve));
            let again = EcKey::from_pkcs8(curve, &one.to_pkcs8().expect("it is private")).expect("it was one");
            assert_eq!((again.point, again.scalar), (one.point.clone(), one.scalar.clone()));
            let public = EcKey::from_spki(curve, &one.public().to_spki().expect("it is one")).expect("it was one");
            let secret = one.agree(&other.public()).expect("they are of one curve");
            assert_eq!(other.agree(&public), Ok(secret.clone()));
            assert_eq!(secret.len(), curve.bytes());
            for digest in [vec![1; 20], vec![2; 32], vec![3; 64]] {
                let signature = one.sign(&digest).expect("it is private");
                assert_eq!(signature.len(), 2 * curve.bytes());
                assert_eq!(public.verify(&digest, &signature), Ok(true));
                assert_eq!(public.verify(&[9; 32], &signature), Ok(false));
            }
            assert_eq!(public.verify(&[1; 20], b"short"), Ok(false));
            assert_eq!(public.sign(&[1; 20]).expect_err("it is public").name, "InvalidAccessError");
        }
        let (one, other) = (EcKey::generate(Curve::P256), EcKey::generate(Curve::P384));
        assert_eq!(one.agree(&other).expect_err("two curves").name, "InvalidAccessError");
    }
}
