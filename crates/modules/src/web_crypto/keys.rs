//! `generateKey`, `importKey`, `exportKey` and `deriveKey`.

use host::js::{Ctx, Value};
use host::plain::Args;

use super::algorithm::{CryptoAlgorithm, Hash};
use super::arguments::{AlgorithmArgument, Outcome, buffer, key, text, truth, usages};
use super::ec::EcKey;
use super::key::{CryptoKey, KeyKind, Material, Usage};
use super::operations;
use super::subtle::{Product, Work};
use super::{jwk, rsa_keys};
use crate::experimental::named_error::NamedError;

fn random(length: usize) -> Result<Vec<u8>, NamedError> {
    let mut bytes = vec![0; length];
    getrandom::getrandom(&mut bytes)
        .map_err(|why| NamedError::new("OperationError", format!("the system gives no random bytes: {why}")))?;
    Ok(bytes)
}

pub(super) fn generate<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Outcome<Work> {
    let knows = |one| !matches!(one, CryptoAlgorithm::Pbkdf2 | CryptoAlgorithm::Sha(_));
    let wanted = AlgorithmArgument::read(ctx, args.get(0), "generateKey", knows)?;
    let (algorithm, extractable) = (wanted.algorithm, truth(args.get(1)));
    let granted = usages(ctx, args.get(2))?;
    if algorithm.is_rsa() {
        let (bits, exponent) = (wanted.whole("modulusLength")?.unwrap_or(0), wanted.bytes(ctx, "publicExponent")?);
        let hash = wanted.hash(ctx)?;
        rsa_keys::check(bits, &exponent)?;
        return Ok(Work::later(move || {
            let (private, public) = rsa_keys::generate(bits, &exponent)?;
            let of = |kind, material| CryptoKey { hash: Some(hash), ..CryptoKey::of(algorithm, kind, material) };
            let (private, public) = (of(KeyKind::Private, private), of(KeyKind::Public, public));
            CryptoKey::pair(private, public, extractable, &granted).map(Product::pair)
        }));
    }
    if algorithm.is_ec() {
        let private = EcKey::generate(wanted.curve(ctx)?);
        let public = CryptoKey::of(algorithm, KeyKind::Public, Material::Ec(private.public()));
        let private = CryptoKey::of(algorithm, KeyKind::Private, Material::Ec(private));
        return Ok(Work::Done(Product::pair(CryptoKey::pair(private, public, extractable, &granted)?)));
    }
    let key = secret_of_length(ctx, &wanted, random)?;
    Ok(Work::Done(Product::Key(key.granted(extractable, &granted)?)))
}

/// A secret key of the length that the parameters say, of these bytes.
fn secret_of_length<'js>(
    ctx: &Ctx<'js>,
    wanted: &AlgorithmArgument<'js>,
    bytes: impl FnOnce(usize) -> Result<Vec<u8>, NamedError>,
) -> Outcome<CryptoKey> {
    let length = wanted.whole("length")?;
    if wanted.algorithm.is_aes() {
        let Some(length @ (128 | 192 | 256)) = length else {
            let message = format!("the length of an AES key is {}, expected 128, 192 or 256", length.unwrap_or(0));
            return Err(NamedError::new("OperationError", message).into());
        };
        return Ok(CryptoKey::secret(wanted.algorithm, None, bytes(length as usize / 8)?));
    }
    let hash = wanted.hash(ctx)?;
    let length = length.unwrap_or(hash.block() as u32 * 8);
    if length == 0 || length > 1 << 20 {
        let message = format!("the length of an HMAC key is {length}, expected 1 to {}", 1 << 20);
        return Err(NamedError::new("OperationError", message).into());
    }
    let key = CryptoKey::secret(wanted.algorithm, Some(hash), bytes(length.div_ceil(8) as usize)?);
    Ok(CryptoKey { length: Some(length), ..key })
}

pub(super) fn import<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Outcome<Work> {
    let format = text(ctx, args.get(0))?;
    let wanted = AlgorithmArgument::read(ctx, args.get(2), "importKey", |one| !matches!(one, CryptoAlgorithm::Sha(_)))?;
    let (extractable, granted) = (truth(args.get(3)), usages(ctx, args.get(4))?);
    let key = match format.as_str() {
        "jwk" => import_jwk(ctx, &wanted, args.get(1))?,
        _ => import_bytes(ctx, &wanted, &format, buffer(ctx, args.get(1), "keyData")?)?,
    };
    if key.algorithm == CryptoAlgorithm::Pbkdf2 && extractable {
        return Err(NamedError::new("SyntaxError", "keys of PBKDF2 cannot be extractable").into());
    }
    if let (Material::Secret(bytes), true) = (&*key.material, key.algorithm.is_aes())
        && ![16, 24, 32].contains(&bytes.len())
    {
        let message = format!("the AES key has {} bytes, expected 16, 24 or 32", bytes.len());
        return Err(NamedError::new("DataError", message).into());
    }
    if matches!(&*key.material, Material::Secret(bytes) if bytes.is_empty()) && key.algorithm == CryptoAlgorithm::Hmac {
        return Err(NamedError::new("DataError", "the HMAC key has no bytes").into());
    }
    Ok(Work::Done(Product::Key(key.granted(extractable, &granted)?)))
}

/// HMAC and RSA keys are for one hash function.
fn hash_of_key<'js>(ctx: &Ctx<'js>, wanted: &AlgorithmArgument<'js>) -> Outcome<Option<Hash>> {
    let needs = wanted.algorithm == CryptoAlgorithm::Hmac || wanted.algorithm.is_rsa();
    needs.then(|| wanted.hash(ctx)).transpose()
}

fn import_jwk<'js>(ctx: &Ctx<'js>, wanted: &AlgorithmArgument<'js>, data: Option<Value<'js>>) -> Outcome<CryptoKey> {
    let Some(object) = data.and_then(Value::into_object) else {
        return Err(NamedError::wrong("keyData is not an object, expected a JSON Web Key").into());
    };
    let curve = wanted.algorithm.is_ec().then(|| wanted.curve(ctx)).transpose()?;
    jwk::read(&object, wanted.algorithm, hash_of_key(ctx, wanted)?, curve)
}

fn import_bytes<'js>(
    ctx: &Ctx<'js>,
    wanted: &AlgorithmArgument<'js>,
    format: &str,
    data: Vec<u8>,
) -> Outcome<CryptoKey> {
    let algorithm = wanted.algorithm;
    let hash = hash_of_key(ctx, wanted)?;
    let refusal =
        || NamedError::new("NotSupportedError", format!("{} has no keys in the format '{format}'", algorithm.name()));
    if algorithm.is_ec() {
        let curve = wanted.curve(ctx)?;
        let (kind, key) = match format {
            "raw" => (KeyKind::Public, EcKey::from_point(curve, &data)?),
            "spki" => (KeyKind::Public, EcKey::from_spki(curve, &data)?),
            "pkcs8" => (KeyKind::Private, EcKey::from_pkcs8(curve, &data)?),
            _ => return Err(refusal().into()),
        };
        return Ok(CryptoKey::of(algorithm, kind, Material::Ec(key)));
    }
    if algorithm.is_rsa() {
        let (kind, material) = match format {
            "spki" => (KeyKind::Public, rsa_keys::from_spki(&data)?),
            "pkcs8" => (KeyKind::Private, rsa_keys::from_pkcs8(&data)?),
            _ => return Err(refusal().into()),
        };
        return Ok(CryptoKey { hash, ..CryptoKey::of(algorithm, kind, material) });
    }
    match format {
        "raw" => Ok(CryptoKey::secret(algorithm, hash, data)),
        _ => Err(refusal().into()),
    }
}

pub(super) fn export<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Outcome<Work> {
    let (format, key) = (text(ctx, args.get(0))?, key(args.get(1), "the key")?);
    if !key.extractable {
        return Err(NamedError::new("InvalidAccessError", "the key is not extractable").into());
    }
    let bytes = match (format.as_str(), &*key.material) {
        ("jwk", _) => return Ok(Work::Done(Product::Jwk(key))),
        ("raw", Material::Secret(bytes)) => bytes.clone(),
        ("raw", Material::Ec(ec)) if key.kind == KeyKind::Public => ec.point.clone(),
        ("spki", Material::Ec(ec)) if key.kind == KeyKind::Public => ec.to_spki()?,
        ("pkcs8", Material::Ec(ec)) => ec.to_pkcs8()?,
        ("spki", material) if key.algorithm.is_rsa() => material.rsa_to_spki()?,
        ("pkcs8", material) if key.algorithm.is_rsa() => material.rsa_to_pkcs8()?,
        ("raw" | "spki", Material::Ec(_)) => {
            let message = format!("a private key cannot be exported as '{format}'");
            return Err(NamedError::new("InvalidAccessError", message).into());
        }
        _ => {
            let message = format!("{} has no keys in the format '{format}'", key.algorithm.name());
            return Err(NamedError::new("NotSupportedError", message).into());
        }
    };
    Ok(Work::Done(Product::Bytes(bytes)))
}

pub(super) fn derive<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Outcome<Work> {
    let derivation = operations::derivation(ctx, args.get(0), args.get(1), Usage::DeriveKey)?;
    let knows = |one: CryptoAlgorithm| one.is_aes() || one == CryptoAlgorithm::Hmac;
    let wanted = AlgorithmArgument::read(ctx, args.get(2), "deriveKey", knows)?;
    let (extractable, granted) = (truth(args.get(3)), usages(ctx, args.get(4))?);
    // The length is known before the bytes are, which may take long.
    let key = secret_of_length(ctx, &wanted, |length| Ok(vec![0; length]))?.granted(extractable, &granted)?;
    let length = key.secret_bytes()?.len();
    let finish = move || {
        let material = Material::Secret(derivation.bytes(length)?);
        Ok(Product::Key(CryptoKey { material: std::sync::Arc::new(material), ..key }))
    };
    Ok(Work::later(finish))
}
