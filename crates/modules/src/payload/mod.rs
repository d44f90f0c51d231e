//! `onrush/payload`: bodies of any size that are made while they are sent, so that a 10 GB upload needs no 10 GB file.
//!
//! Binding only; the bytes come from `wire::payload`. Refuses totals that are no whole numbers.

pub mod borrowed;
pub mod streamed;

use ::bytes::Bytes;
use host::bytes;
use host::js::function::Opt;
use host::js::prelude::Func;
use host::js::{Ctx, Exception, Object, Result, Value};
use wire::{Random, Repeat, Segment};

use self::streamed::{described, whole_number};
use script::builtins::ModuleDef;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "onrush/payload", exports: &["repeat", "random"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("repeat", Func::from(repeat))?;
    module.set("random", Func::from(random))?;
    Ok(module)
}

/// `repeat(bytes, total)`.
fn repeat<'js>(ctx: Ctx<'js>, pattern: Opt<Value<'js>>, total: Opt<Value<'js>>) -> Result<Object<'js>> {
    let pattern = pattern.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let Some(content) = bytes::read(&ctx, &pattern, Bytes::copy_from_slice)? else {
        let found = described(&pattern);
        let message = format!("repeat: the pattern is {found}, expected a string, an ArrayBuffer or a view of one");
        return Err(Exception::throw_type(&ctx, &message));
    };
    if content.is_empty() {
        return Err(Exception::throw_range(&ctx, "repeat: the pattern is empty, expected at least one byte"));
    }
    let total = number(&ctx, "repeat: the total", total)?;
    streamed::generated(&ctx, Segment::Repeat(Repeat::new(content, total)))
}

/// `random(total, seed?)`.
fn random<'js>(ctx: Ctx<'js>, total: Opt<Value<'js>>, seed: Opt<Value<'js>>) -> Result<Object<'js>> {
    let total = number(&ctx, "random: the total", total)?;
    let seed = match &seed.0 {
        Some(value) if !value.is_undefined() => number(&ctx, "random: the seed", seed)?,
        _ => 0,
    };
    streamed::generated(&ctx, Segment::Random(Random::new(total, seed)))
}

fn number<'js>(ctx: &Ctx<'js>, what: &str, value: Opt<Value<'js>>) -> Result<u64> {
    let value = value.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    whole_number(&value).ok_or_else(|| {
        let expected = "expected a whole number from 0 to 2^53 - 1";
        Exception::throw_range(ctx, &format!("{what} is {}, {expected}", described(&value)))
    })
}
