//! `digest`, `encrypt`, `decrypt`, `sign`, `verify` and `deriveBits`.

use host::bytes;
use host::js::{Coerced, Ctx, Value};
use host::kind::Kind;
use host::plain::Args;

use super::aes::{Direction, Mode};
use super::algorithm::{CryptoAlgorithm, Hash};
use super::arguments::{AlgorithmArgument, Outcome, buffer, key, not_a_buffer};
use super::key::{CryptoKey, Usage};
use super::subtle::{Product, Work};
use crate::experimental::named_error::NamedError;
use script::arguments::present;

/// What takes longer than other users of the worker should wait is computed on another thread.
const LONG_BYTES: usize = 4 << 20;

pub(super) fn digest<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Outcome<Work> {
    let wanted = AlgorithmArgument::read(ctx, args.get(0), "digest", |one| matches!(one, CryptoAlgorithm::Sha(_)))?;
    let CryptoAlgorithm::Sha(hash) = wanted.algorithm else { unreachable!("hash functions alone were asked for") };
    let data = args.get(1).unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    if !matches!(Kind::of(&data), Kind::Buffer(_)) {
        return Err(not_a_buffer(&data, "data").into());
    }
    // Short ones are lent, not copied.
    let digested = bytes::read(ctx, &data, move |bytes| match bytes.len() {
        0..=LONG_BYTES => Ok(hash.digest(bytes)),
        _ => Err(bytes.to_vec()),
    })?;
    match digested {
        Some(Ok(digest)) => Ok(Work::Done(Product::Bytes(digest))),
        Some(Err(long)) => Ok(Work::later(move || Ok(Product::Bytes(hash.digest(&long))))),
        None => Err(not_a_buffer(&data, "data").into()),
    }
}

fn can_encrypt(one: CryptoAlgorithm) -> bool {
    use CryptoAlgorithm::{AesCbc, AesCtr, AesGcm, RsaOaep};
    matches!(one, AesCbc | AesCtr | AesGcm | RsaOaep)
}

pub(super) fn encrypt<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Outcome<Work> {
    cipher(ctx, args, Direction::Encrypt)
}

pub(super) fn decrypt<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Outcome<Work> {
    cipher(ctx, args, Direction::Decrypt)
}

fn cipher<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, direction: Direction) -> Outcome<Work> {
    let usage = if direction == Direction::Encrypt { Usage::Encrypt } else { Usage::Decrypt };
    let wanted = AlgorithmArgument::read(ctx, args.get(0), usage.name(), can_encrypt)?;
    let key = key(args.get(1), "the key")?;
    key.check(wanted.algorithm, usage)?;
    let text = buffer(ctx, args.get(2), "data")?;
    let mode = match wanted.algorithm {
        CryptoAlgorithm::AesCbc => Mode::Cbc { iv: wanted.bytes(ctx, "iv")? },
        CryptoAlgorithm::AesCtr => {
            let length = wanted.whole("length")?.unwrap_or(0);
            if !(1..=128).contains(&length) {
                let message = format!("the length of the counter is {length}, expected 1 to 128 bits");
                return Err(NamedError::new("OperationError", message).into());
            }
            Mode::Ctr { counter: wanted.bytes(ctx, "counter")? }
        }
        CryptoAlgorithm::AesGcm => Mode::Gcm {
            iv: wanted.bytes(ctx, "iv")?,
            additional: wanted.bytes(ctx, "additionalData")?,
            tag_bits: wanted.whole("tagLength")?.unwrap_or(128),
        },
        _ => return oaep(ctx, &wanted, key, text, direction),
    };
    mode.check()?;
    let is_long = text.len() > LONG_BYTES;
    let run = move || mode.apply(direction, key.secret_bytes()?, text).map(Product::Bytes);
    if is_long { Ok(Work::later(run)) } else { Ok(Work::Done(run()?)) }
}

fn oaep<'js>(
    ctx: &Ctx<'js>,
    wanted: &AlgorithmArgument<'js>,
    key: CryptoKey,
    text: Vec<u8>,
    direction: Direction,
) -> Outcome<Work> {
    let label = match wanted.bytes(ctx, "label")? {
        label if label.is_empty() => None,
        label => Some(
            String::from_utf8(label)
                .map_err(|_| NamedError::new("NotSupportedError", "a label that is no UTF-8 text is not supported"))?,
        ),
    };
    let hash = key.hash.unwrap_or(Hash::Sha1);
    Ok(Work::later(move || match direction {
        Direction::Encrypt => key.material.rsa_encrypt(hash, label, &text).map(Product::Bytes),
        Direction::Decrypt => key.material.rsa_decrypt(hash, label, &text).map(Product::Bytes),
    }))
}

fn can_sign(one: CryptoAlgorithm) -> bool {
    use CryptoAlgorithm::{Ecdsa, Hmac, RsaPkcs1, RsaPss};
    matches!(one, Ecdsa | Hmac | RsaPkcs1 | RsaPss)
}

/// The hash function of a signature, and the bytes of salt.
fn signature_of<'js>(ctx: &Ctx<'js>, wanted: &AlgorithmArgument<'js>, key: &CryptoKey) -> Outcome<(Hash, usize)> {
    let hash = match wanted.algorithm {
        CryptoAlgorithm::Ecdsa => wanted.hash(ctx)?,
        _ => key.hash.unwrap_or(Hash::Sha1),
    };
    let salt = wanted.whole("saltLength")?;
    if wanted.algorithm == CryptoAlgorithm::RsaPss && salt.is_none() {
        return Err(NamedError::new("SyntaxError", "the algorithm RSA-PSS needs a 'saltLength', such as 32").into());
    }
    Ok((hash, salt.unwrap_or(0) as usize))
}

pub(super) fn sign<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Outcome<Work> {
    let wanted = AlgorithmArgument::read(ctx, args.get(0), "sign", can_sign)?;
    let key = key(args.get(1), "the key")?;
    key.check(wanted.algorithm, Usage::Sign)?;
    let (hash, salt) = signature_of(ctx, &wanted, &key)?;
    let data = buffer(ctx, args.get(2), "data")?;
    match wanted.algorithm {
        CryptoAlgorithm::Hmac => Ok(Work::Done(Product::Bytes(hash.code(key.secret_bytes()?, &data)))),
        CryptoAlgorithm::Ecdsa => Ok(Work::Done(Product::Bytes(key.ec()?.sign(&hash.digest(&data))?))),
        algorithm => Ok(Work::later(move || {
            key.material.rsa_sign(algorithm, hash, salt, &hash.digest(&data)).map(Product::Bytes)
        })),
    }
}

pub(super) fn verify<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Outcome<Work> {
    let wanted = AlgorithmArgument::read(ctx, args.get(0), "verify", can_sign)?;
    let key = key(args.get(1), "the key")?;
    key.check(wanted.algorithm, Usage::Verify)?;
    let (hash, salt) = signature_of(ctx, &wanted, &key)?;
    let (signature, data) = (buffer(ctx, args.get(2), "signature")?, buffer(ctx, args.get(3), "data")?);
    let is_right = match wanted.algorithm {
        CryptoAlgorithm::Hmac => hash.code(key.secret_bytes()?, &data) == signature,
        CryptoAlgorithm::Ecdsa => key.ec()?.verify(&hash.digest(&data), &signature)?,
        algorithm => key.material.rsa_verify(algorithm, hash, salt, &hash.digest(&data), &signature)?,
    };
    Ok(Work::Done(Product::Truth(is_right)))
}

/// Where derived bytes come from.
pub(super) enum Derivation {
    Pbkdf2 { password: Vec<u8>, salt: Vec<u8>, rounds: u32, hash: Hash },
    Ecdh { own: CryptoKey, other: CryptoKey },
}

/// The derivation that two arguments say.
pub(super) fn derivation<'js>(
    ctx: &Ctx<'js>,
    algorithm: Option<Value<'js>>,
    base: Option<Value<'js>>,
    usage: Usage,
) -> Outcome<Derivation> {
    let knows = |one| matches!(one, CryptoAlgorithm::Pbkdf2 | CryptoAlgorithm::Ecdh);
    let wanted = AlgorithmArgument::read(ctx, algorithm, usage.name(), knows)?;
    let own = key(base, "baseKey")?;
    own.check(wanted.algorithm, usage)?;
    if wanted.algorithm == CryptoAlgorithm::Ecdh {
        let other = wanted.value("public")?;
        let other = key(other, "'public' of the algorithm")?;
        return Ok(Derivation::Ecdh { own, other });
    }
    let rounds = wanted.whole("iterations")?.unwrap_or(0);
    if rounds == 0 {
        return Err(NamedError::new("OperationError", "'iterations' of PBKDF2 is 0, expected 1 or more").into());
    }
    let (salt, hash) = (wanted.bytes(ctx, "salt")?, wanted.hash(ctx)?);
    Ok(Derivation::Pbkdf2 { password: own.secret_bytes()?.to_vec(), salt, rounds, hash })
}

impl Derivation {
    /// So many of its bytes.
    pub(super) fn bytes(&self, length: usize) -> Result<Vec<u8>, NamedError> {
        let mut bytes = vec![0; length];
        match self {
            Derivation::Pbkdf2 { password, salt, rounds, hash } => {
                match hash {
                    Hash::Sha1 => pbkdf2::pbkdf2_hmac::<sha1::Sha1>(password, salt, *rounds, &mut bytes),
                    Hash::Sha256 => pbkdf2::pbkdf2_hmac::<sha2::Sha256>(password, salt, *rounds, &mut bytes),
                    Hash::Sha384 => pbkdf2::pbkdf2_hmac::<sha2::Sha384>(password, salt, *rounds, &mut bytes),
                    Hash::Sha512 => pbkdf2::pbkdf2_hmac::<sha2::Sha512>(password, salt, *rounds, &mut bytes),
                }
                Ok(bytes)
            }
            Derivation::Ecdh { own, other } => {
                let secret = own.ec()?.agree(other.ec()?)?;
                let part = secret.get(..length).ok_or_else(|| {
                    let message = format!("{} bits were asked for, ECDH gives {}", length * 8, secret.len() * 8);
                    NamedError::new("OperationError", message)
                })?;
                Ok(part.to_vec())
            }
        }
    }
}

/// Most bytes that one call derives.
const MOST_DERIVED: usize = 1 << 20;

pub(super) fn derive_bits<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Outcome<Work> {
    let derivation = derivation(ctx, args.get(0), args.get(1), Usage::DeriveBits)?;
    let bits = present(args.get(2)).map(|bits| bits.get::<Coerced<f64>>()).transpose()?.map_or(0.0, |bits| bits.0);
    if !(bits > 0.0 && bits % 8.0 == 0.0 && bits <= (MOST_DERIVED * 8) as f64) {
        let message = format!("the length is {bits}, expected a multiple of 8 from 8 to {}", MOST_DERIVED * 8);
        return Err(NamedError::new("OperationError", message).into());
    }
    let length = bits as usize / 8;
    match derivation {
        Derivation::Ecdh { .. } => Ok(Work::Done(Product::Bytes(derivation.bytes(length)?))),
        Derivation::Pbkdf2 { .. } => Ok(Work::later(move || derivation.bytes(length).map(Product::Bytes))),
    }
}
