//! JSON Web Keys: reading and writing keys as objects of text.

use host::js::{Ctx, Object, Result, Value};

use super::algorithm::{CryptoAlgorithm, Hash};
use super::arguments::Outcome;
use super::ec::{Curve, EcKey};
use super::key::{CryptoKey, KeyKind, Material};
use super::rsa_keys;
use crate::experimental::named_error::NamedError;
use script::arguments::member;
use script::base64::Variant;

fn unusable(why: impl std::fmt::Display) -> NamedError {
    NamedError::new("DataError", format!("the JSON Web Key cannot be used: {why}"))
}

/// The number or bytes under a name.
fn bytes(object: &Object<'_>, name: &str) -> Outcome<Option<Vec<u8>>> {
    let Some(value) = member(object, name)? else { return Ok(None) };
    let text = value.as_string().map(|text| text.to_string()).transpose()?;
    let text = text.ok_or_else(|| unusable(format!("'{name}' is {}, expected text", value.type_name())))?;
    let decoded = Variant::RawUrl.decode(text.as_bytes());
    decoded.map(Some).map_err(|_| unusable(format!("'{name}' is not base64url")).into())
}

fn required(object: &Object<'_>, name: &str) -> Outcome<Vec<u8>> {
    bytes(object, name)?.ok_or_else(|| unusable(format!("'{name}' is missing")).into())
}

fn text(object: &Object<'_>, name: &str) -> Outcome<String> {
    let value = member(object, name)?;
    let text = value.as_ref().and_then(Value::as_string).map(|text| text.to_string()).transpose()?;
    Ok(text.unwrap_or_default())
}

fn expect(object: &Object<'_>, name: &str, expected: &str) -> Outcome<()> {
    let found = text(object, name)?;
    match found == expected {
        true => Ok(()),
        false => Err(unusable(format!("'{name}' is '{found}', expected '{expected}'")).into()),
    }
}

/// The key that an object is. `curve` is what the script named.
pub(super) fn read(
    object: &Object<'_>,
    algorithm: CryptoAlgorithm,
    hash: Option<Hash>,
    curve: Option<Curve>,
) -> Outcome<CryptoKey> {
    if let Some(curve) = curve {
        expect(object, "kty", "EC")?;
        expect(object, "crv", curve.name())?;
        let key = match bytes(object, "d")? {
            Some(scalar) => EcKey::from_scalar(curve, &scalar)?,
            None => {
                let point = [&[4][..], &required(object, "x")?, &required(object, "y")?].concat();
                EcKey::from_point(curve, &point)?
            }
        };
        let kind = if key.scalar.is_some() { KeyKind::Private } else { KeyKind::Public };
        return Ok(CryptoKey::of(algorithm, kind, Material::Ec(key)));
    }
    if algorithm.is_rsa() {
        expect(object, "kty", "RSA")?;
        let (n, e) = (required(object, "n")?, required(object, "e")?);
        let Some(d) = bytes(object, "d")? else {
            let material = rsa_keys::from_numbers(&n, &e, None)?;
            return Ok(CryptoKey { hash, ..CryptoKey::of(algorithm, KeyKind::Public, material) });
        };
        let (p, q) = (required(object, "p")?, required(object, "q")?);
        let material = rsa_keys::from_numbers(&n, &e, Some((&d, vec![&p, &q])))?;
        return Ok(CryptoKey { hash, ..CryptoKey::of(algorithm, KeyKind::Private, material) });
    }
    expect(object, "kty", "oct")?;
    Ok(CryptoKey::secret(algorithm, hash, required(object, "k")?))
}

/// A key as an object.
pub(super) fn write<'js>(ctx: &Ctx<'js>, key: &CryptoKey) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    let set = |name: &str, bytes: &[u8]| object.set(name, Variant::RawUrl.encode(bytes));
    match &*key.material {
        Material::Secret(bytes) => {
            object.set("kty", "oct")?;
            set("k", bytes)?;
            object.set("alg", alg(key, bytes.len()))?;
        }
        Material::Ec(ec) => {
            object.set("kty", "EC")?;
            object.set("crv", ec.curve.name())?;
            let (x, y) = ec.point[1..].split_at(ec.curve.bytes());
            set("x", x)?;
            set("y", y)?;
            if let Some(scalar) = &ec.scalar {
                set("d", scalar)?;
            }
            return Ok(object.into_value());
        }
        Material::RsaPublic(_) | Material::RsaPrivate(_) => {
            object.set("kty", "RSA")?;
            for (name, number) in key.material.rsa_numbers() {
                set(name, &number)?;
            }
            return Ok(object.into_value());
        }
    }
    object.set("ext", key.extractable)?;
    object.set("key_ops", key.usages.iter().map(|usage| usage.name()).collect::<Vec<_>>())?;
    Ok(object.into_value())
}

/// What a secret key is for, as RFC 7518 names it.
fn alg(key: &CryptoKey, bytes: usize) -> String {
    match key.algorithm {
        CryptoAlgorithm::Hmac => format!("HS{}", key.hash.map_or("", Hash::number)),
        algorithm => format!("A{}{}", bytes * 8, &algorithm.name()[4..]),
    }
}
