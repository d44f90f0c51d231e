//! `onrush/data`: rows of test data of which each is given to one iteration of the whole test, over all users, workers
//! and agents.
//!
//! A process counts by itself: its k-th row is the one that its segment of the test owns, as it is with iterations. So
//! no agent asks another one, and a row is given once however many agents there are. Refuses to give rows outside of
//! iterations, because `setup()` runs in a process that is no agent.

mod counters;

use std::sync::Arc;

use engine::segment::Stripes;
use host::Phase;
use host::js::function::{Opt, This};
use host::js::prelude::Func;
use host::js::{Ctx, Exception, Object, Result, Value};
use host::native::NativeClass;
use host::{bytes, keeper};

use self::counters::{RowCounter, RowCounters};
use script::builtins::ModuleDef;
use script::vu::Vu;

/// The module `onrush/data`.
pub const MODULE: ModuleDef =
    ModuleDef { name: "onrush/data", exports: &["uniqueRows"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("uniqueRows", Func::from(unique_rows))?;
    Ok(module)
}

/// What `uniqueRows` returns; holds the array.
struct UniqueRows {
    counter: Arc<RowCounter>,
}

impl NativeClass for UniqueRows {
    const NAME: &'static str = "UniqueRows";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("take", Func::from(take))?;
        prototype.set("left", Func::from(left))
    }
}

/// `uniqueRows(name, array)`: rows that are given once.
fn unique_rows<'js>(ctx: Ctx<'js>, name: Opt<Value<'js>>, array: Opt<Value<'js>>) -> Result<Object<'js>> {
    let name = name.0.as_ref().filter(|name| name.is_string()).map(|name| bytes::to_text(&ctx, name)).transpose()?;
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Err(Exception::throw_type(&ctx, "uniqueRows: the first argument must be a name, which is not empty"));
    };
    let length = |rows: &Object<'js>| rows.get::<_, Option<f64>>("length");
    let count =
        array.0.as_ref().and_then(Value::as_object).filter(|rows| !rows.is_function()).map(length).transpose()?;
    let (Some(rows), Some(count)) = (array.0, count.flatten()) else {
        let message = "uniqueRows: the second argument must be an array, such as a SharedArray";
        return Err(Exception::throw_type(&ctx, message));
    };
    let count = count as u64;
    let vu = Vu::of(&ctx);
    let counter = vu.process::<RowCounters>().named(&name, count);
    let counter = counter.map_err(|other| {
        let message = format!("uniqueRows: '{name}' has {other} rows elsewhere, found {count}: give each its own name");
        Exception::throw_range(&ctx, &message)
    })?;
    let object = keeper::object(&ctx, UniqueRows { counter })?;
    keeper::with(object.as_value(), |_: &mut UniqueRows, kept| kept.push(rows));
    Ok(object)
}

/// `rows.take()`: the next row, or undefined.
fn take<'js>(ctx: Ctx<'js>, this: This<Value<'js>>) -> Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() != Phase::Iteration || vu.id() == 0 {
        let message = "take: rows are given in iterations alone: setup() runs once for all agents";
        return Err(Exception::throw_type(&ctx, message));
    }
    let (counter, rows) = parts(&ctx, &this.0)?;
    match counter.take(|| stripes(&vu)) {
        Some(row) => rows.as_object().map_or_else(|| Ok(Value::new_undefined(ctx)), |rows| rows.get(row as u32)),
        None => Ok(Value::new_undefined(ctx)),
    }
}

/// `rows.left()`: how many this process can still give.
fn left<'js>(ctx: Ctx<'js>, this: This<Value<'js>>) -> Result<f64> {
    let vu = Vu::of(&ctx);
    let (counter, _) = parts(&ctx, &this.0)?;
    Ok(counter.left(|| stripes(&vu)) as f64)
}

fn parts<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> Result<(Arc<RowCounter>, Value<'js>)> {
    let found =
        keeper::with(this, |rows: &mut UniqueRows, kept| Some((Arc::clone(&rows.counter), kept.first()?.clone())));
    found.flatten().ok_or_else(|| Exception::throw_type(ctx, "it is not what uniqueRows returns"))
}

/// The positions of the test that this process owns.
fn stripes(vu: &Vu) -> Stripes {
    let options = vu.options();
    let segment = options.execution_segment.as_deref().copied();
    let stripes = Stripes::new(segment, options.execution_segment_sequence.as_deref());
    stripes.expect("the test was planned by the same options")
}
