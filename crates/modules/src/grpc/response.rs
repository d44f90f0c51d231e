//! What `invoke` returns: its fields become values of the script when they are read.

use std::rc::Rc;

use grpc::metadata;
use host::js::object::Property;
use host::js::{Array, Ctx, Object, Result, String as JsString, Value};
use host::lazy_object::{Lazy, LazyFields, LazyObject};
use wire::client::Fields;

use super::call::{Bound, Ended};
use super::message;
use super::params::CallParams;

/// A response.
struct Response {
    bound: Rc<Bound>,
    ended: Ended,
    discards: bool,
    is_raw: bool,
}

/// Fields of the protocols themselves, which are no metadata.
const OWN: [&str; 7] = [
    "grpc-status",
    "grpc-message",
    "grpc-encoding",
    "grpc-accept-encoding",
    "connect-content-encoding",
    "connect-accept-encoding",
    "te",
];

impl LazyFields for Response {
    const FIELDS: &'static [&'static str] = &["message", "error", "headers", "trailers", "status"];

    fn field<'js>(&self, ctx: &Ctx<'js>, index: usize) -> Result<Value<'js>> {
        let ended = &self.ended;
        match index {
            0 if self.discards => Ok(Value::new_null(ctx.clone())),
            0 if self.is_raw => {
                let message = ended.message.clone();
                message.map_or_else(
                    || Ok(Value::new_null(ctx.clone())),
                    |bytes| Ok(host::bytes::array_buffer(ctx, bytes)?.into_value()),
                )
            }
            // As in k6, a call that failed has a message of defaults.
            0 => {
                let bytes = ended.message.as_deref().unwrap_or_default();
                message::decode(ctx, &self.bound.schema, self.bound.method.output, bytes)
            }
            1 if ended.status.code == 0 => Ok(Value::new_null(ctx.clone())),
            1 => {
                let details = ended.details.as_deref().unwrap_or_default();
                let details = message::details(ctx, &self.bound.schema, details)?;
                let error = Object::new(ctx.clone())?;
                error.set("code", ended.status.code)?;
                error.set("message", &*ended.status.message)?;
                error.set("details", details)?;
                Ok(error.into_value())
            }
            2 => fields(ctx, &ended.headers),
            3 => fields(ctx, &ended.trailers),
            _ => Ok(Value::new_number(ctx.clone(), ended.status.code.into())),
        }
    }
}

/// The response of a call that ended.
pub fn response<'js>(ctx: &Ctx<'js>, bound: Rc<Bound>, ended: Ended, params: &CallParams) -> Result<Value<'js>> {
    let CallParams { discards, is_raw, .. } = *params;
    LazyObject::create(ctx, Lazy::new(|| Response { bound, ended, discards, is_raw }), None)
}

/// Metadata as an object of lists.
fn fields<'js>(ctx: &Ctx<'js>, fields: &Fields) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in fields.iter().filter(|(name, _)| !OWN.contains(name)) {
        let decoded = metadata::is_binary(name).then(|| metadata::decode_binary(value));
        let text = String::from_utf8_lossy(decoded.as_deref().unwrap_or(value));
        let text = JsString::from_str(ctx.clone(), &text)?;
        match object.get::<_, Option<Array<'js>>>(name)? {
            Some(list) => list.set(list.len(), text)?,
            None => {
                let list = Array::new(ctx.clone())?;
                list.set(0, text)?;
                object.prop(name, Property::from(list).writable().configurable().enumerable())?;
            }
        }
    }
    Ok(object.into_value())
}
