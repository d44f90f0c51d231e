//! `k6/crypto/x509`: what a certificate says.
//!
//! Binding only; `certificate.rs` reads. Numbers of public keys are BigInts, as in k6.

mod certificate;

use data_encoding::HEXLOWER;
use host::intrinsics;
use host::js::function::Opt;
use host::js::{Ctx, Function, Object, Result, Value};

use certificate::{Facts, NameFacts, PublicKeyFacts};
use script::arguments::text_or;
use script::builtins::ModuleDef;
use script::go_error;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/crypto/x509",
    exports: &["getAltNames", "getIssuer", "getSubject", "parse"],
    load,
    types: include_str!("types.d.ts"),
};

/// Whether a text is a certificate with a key that is known, for `cargo xtask fuzz`. The error is that of scripts.
#[cfg(feature = "fuzzing")]
pub(crate) fn check(pem: &str) -> std::result::Result<bool, String> {
    Facts::read(pem).map(|facts| facts.public_key().is_ok())
}

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let add = |name: &str, show: for<'a> fn(&Ctx<'a>, &Facts) -> Result<Value<'a>>| {
        let function = move |ctx: Ctx<'js>, pem: Opt<Value<'js>>| -> Result<Value<'js>> {
            let facts = Facts::read(&text_or(&ctx, pem, "")?).map_err(|message| go_error::throw(&ctx, &message))?;
            show(&ctx, &facts)
        };
        module.set(name, Function::new(ctx.clone(), function)?.with_name(name)?)
    };
    add("getAltNames", alternative_names)?;
    add("getIssuer", |ctx, facts| issuer(ctx, &facts.issuer))?;
    add("getSubject", |ctx, facts| subject(ctx, &facts.subject))?;
    add("parse", parse)?;
    Ok(module)
}

fn parse<'js>(ctx: &Ctx<'js>, facts: &Facts) -> Result<Value<'js>> {
    let key = facts.public_key().map_err(|message| go_error::throw(ctx, &message))?;
    let object = Object::new(ctx.clone())?;
    object.set("subject", subject(ctx, &facts.subject)?)?;
    object.set("issuer", issuer(ctx, &facts.issuer)?)?;
    object.set("notBefore", facts.not_before.as_str())?;
    object.set("notAfter", facts.not_after.as_str())?;
    object.set("altNames", alternative_names(ctx, facts)?)?;
    object.set("signatureAlgorithm", facts.signature_algorithm.as_str())?;
    object.set("fingerPrint", facts.fingerprint.iter().map(|byte| u32::from(*byte)).collect::<Vec<_>>())?;
    object.set("publicKey", public_key(ctx, &key)?)?;
    Ok(object.into_value())
}

fn alternative_names<'js>(ctx: &Ctx<'js>, facts: &Facts) -> Result<Value<'js>> {
    host::js::IntoJs::into_js(facts.alternative_names.clone(), ctx)
}

fn subject<'js>(ctx: &Ctx<'js>, name: &NameFacts) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for (field, identifier) in [
        ("commonName", NameFacts::COMMON_NAME),
        ("country", NameFacts::COUNTRY),
        ("postalCode", NameFacts::POSTAL_CODE),
        ("stateOrProvinceName", NameFacts::STATE),
        ("localityName", NameFacts::LOCALITY),
        ("streetAddress", NameFacts::STREET),
        ("organizationName", NameFacts::ORGANIZATION),
    ] {
        object.set(field, name.first(identifier))?;
    }
    object.set("organizationalUnitName", name.all(NameFacts::UNIT).collect::<Vec<_>>())?;
    object.set("names", names(ctx, name)?)?;
    Ok(object.into_value())
}

fn issuer<'js>(ctx: &Ctx<'js>, name: &NameFacts) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for (field, identifier) in [
        ("commonName", NameFacts::COMMON_NAME),
        ("country", NameFacts::COUNTRY),
        ("stateOrProvinceName", NameFacts::STATE),
        ("localityName", NameFacts::LOCALITY),
        ("organizationName", NameFacts::ORGANIZATION),
    ] {
        object.set(field, name.first(identifier))?;
    }
    object.set("names", names(ctx, name)?)?;
    Ok(object.into_value())
}

fn names<'js>(ctx: &Ctx<'js>, name: &NameFacts) -> Result<Vec<Object<'js>>> {
    let part = |(identifier, text): &(String, String)| {
        let object = Object::new(ctx.clone())?;
        object.set("type", identifier.as_str())?;
        object.set("value", text.as_str())?;
        Ok(object)
    };
    name.0.iter().map(part).collect()
}

fn public_key<'js>(ctx: &Ctx<'js>, key: &PublicKeyFacts) -> Result<Value<'js>> {
    let (object, inner) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
    let algorithm = match key {
        PublicKeyFacts::Rsa { modulus, exponent } => {
            inner.set("n", number(ctx, modulus)?)?;
            // Exponents are short: k6 has them as plain numbers.
            inner.set("e", exponent.iter().fold(0.0, |sum, byte| sum * 256.0 + f64::from(*byte)))?;
            "RSA"
        }
        PublicKeyFacts::Ecdsa { curve, x, y } => {
            let shown = Object::new(ctx.clone())?;
            shown.set("name", *curve)?;
            inner.set("curve", shown)?;
            inner.set("x", number(ctx, x)?)?;
            inner.set("y", number(ctx, y)?)?;
            "ECDSA"
        }
        PublicKeyFacts::Dsa { p, q, g, y } => {
            let parameters = Object::new(ctx.clone())?;
            for (name, bytes) in [("p", p), ("q", q), ("g", g)] {
                parameters.set(name, number(ctx, bytes)?)?;
            }
            inner.set("parameters", parameters)?;
            inner.set("y", number(ctx, y)?)?;
            "DSA"
        }
    };
    object.set("algorithm", algorithm)?;
    object.set("key", inner)?;
    Ok(object.into_value())
}

/// A BigInt.
fn number<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    intrinsics::for_source(ctx, "BigInt")?;
    let digits = format!("0x{}", HEXLOWER.encode(if bytes.is_empty() { &[0] } else { bytes }));
    ctx.globals().get::<_, Function<'js>>("BigInt")?.call((digits,))
}
