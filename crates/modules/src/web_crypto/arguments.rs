//! Reading the arguments of `crypto.subtle`'s functions.

use host::bytes;
use host::js::{Coerced, Ctx, Object, Value};
use host::kind::Kind;
use host::native;

use super::algorithm::{CryptoAlgorithm, Hash};
use super::ec::Curve;
use super::key::{CryptoKey, Usage};
use crate::experimental::named_error::NamedError;
use script::arguments::{ArgumentError, member, present};

/// What reading gives: an exception of the script's own code, or the rejection of the promise.
pub(super) type Outcome<T> = Result<T, ArgumentError<NamedError>>;

/// An algorithm and its parameters.
pub(super) struct AlgorithmArgument<'js> {
    pub(super) algorithm: CryptoAlgorithm,
    object: Option<Object<'js>>,
}

impl<'js> AlgorithmArgument<'js> {
    /// Of a name, or of an object with a name.
    pub(super) fn read(
        ctx: &Ctx<'js>,
        argument: Option<Value<'js>>,
        operation: &str,
        knows: fn(CryptoAlgorithm) -> bool,
    ) -> Outcome<Self> {
        let (name, object) = match present(argument) {
            Some(value) if value.is_string() => (Some(value), None),
            Some(value) => {
                let object = value.into_object();
                (object.as_ref().map(|object| member(object, "name")).transpose()?.flatten(), object)
            }
            None => (None, None),
        };
        let Some(name) = name else {
            let message = format!("{operation}() got no algorithm, expected its name or an object with a name");
            return Err(NamedError::wrong(message).into());
        };
        let algorithm = CryptoAlgorithm::named(&bytes::to_text(ctx, &name)?, operation, knows)?;
        Ok(AlgorithmArgument { algorithm, object })
    }

    /// A parameter.
    pub(super) fn value(&self, name: &str) -> Outcome<Option<Value<'js>>> {
        Ok(self.object.as_ref().map(|object| member(object, name)).transpose()?.flatten())
    }

    pub(super) fn whole(&self, name: &str) -> Outcome<Option<u32>> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        let number = value.get::<Coerced<f64>>()?.0;
        match number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0 {
            true => Ok(Some(number as u32)),
            false => Err(NamedError::wrong(format!("'{name}' is {number}, expected a whole number")).into()),
        }
    }

    /// Bytes of a parameter; none when it is missing.
    pub(super) fn bytes(&self, ctx: &Ctx<'js>, name: &str) -> Outcome<Vec<u8>> {
        match self.value(name)? {
            Some(value) => buffer(ctx, Some(value), name),
            None => Ok(Vec::new()),
        }
    }

    /// The hash function that the parameters name.
    pub(super) fn hash(&self, ctx: &Ctx<'js>) -> Outcome<Hash> {
        let value = self.value("hash")?;
        if value.is_none() {
            let message = format!("the algorithm {} needs a 'hash', such as 'SHA-256'", self.algorithm.name());
            return Err(NamedError::new("SyntaxError", message).into());
        }
        match AlgorithmArgument::read(ctx, value, "hash", |one| matches!(one, CryptoAlgorithm::Sha(_)))?.algorithm {
            CryptoAlgorithm::Sha(hash) => Ok(hash),
            _ => unreachable!("hash functions alone were asked for"),
        }
    }

    pub(super) fn curve(&self, ctx: &Ctx<'js>) -> Outcome<Curve> {
        let name = self.value("namedCurve")?.map(|name| bytes::to_text(ctx, &name)).transpose()?;
        Ok(Curve::named(&name.unwrap_or_default())?)
    }
}

/// A copy of the bytes of an ArrayBuffer or a view, with room for a tag behind them.
pub(super) fn buffer<'js>(ctx: &Ctx<'js>, argument: Option<Value<'js>>, what: &str) -> Outcome<Vec<u8>> {
    let copy = |bytes: &[u8]| {
        let mut copy = Vec::with_capacity(bytes.len() + 16);
        copy.extend_from_slice(bytes);
        copy
    };
    let argument = argument.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let copied = match Kind::of(&argument) {
        Kind::Buffer(_) => bytes::read(ctx, &argument, copy)?,
        _ => None,
    };
    copied.ok_or_else(|| not_a_buffer(&argument, what).into())
}

pub(super) fn not_a_buffer(argument: &Value<'_>, what: &str) -> NamedError {
    NamedError::wrong(format!("{what} is of type {}, expected an ArrayBuffer or a view of one", argument.type_name()))
}

/// A key that was handed over.
pub(super) fn key<'js>(argument: Option<Value<'js>>, what: &str) -> Outcome<CryptoKey> {
    let found = argument.as_ref().and_then(|value| native::with(value, |key: &CryptoKey| key.clone()));
    found.ok_or_else(|| {
        let found = argument.as_ref().map_or("nothing", Value::type_name);
        NamedError::wrong(format!("{what} is {found}, expected a CryptoKey")).into()
    })
}

/// The list of usages.
pub(super) fn usages<'js>(ctx: &Ctx<'js>, argument: Option<Value<'js>>) -> Outcome<Vec<Usage>> {
    let Some(list) = argument.and_then(Value::into_array) else {
        return Err(NamedError::wrong("keyUsages is not a list, expected one such as ['sign', 'verify']").into());
    };
    list.iter::<Value<'js>>().map(|usage| Ok(Usage::named(&bytes::to_text(ctx, &usage?)?)?)).collect()
}

/// What counts as true.
pub(super) fn truth(argument: Option<Value<'_>>) -> bool {
    argument.is_some_and(|value| host::object::is_true(&value))
}

/// Text, such as the format of a key.
pub(super) fn text<'js>(ctx: &Ctx<'js>, argument: Option<Value<'js>>) -> Outcome<String> {
    Ok(present(argument).map(|text| bytes::to_text(ctx, &text)).transpose()?.unwrap_or_default())
}
