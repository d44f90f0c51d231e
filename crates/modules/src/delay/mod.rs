//! `onrush/delay`: when a message was sent and when it arrived, and what is between, by event and hop.
//!
//! Stamps are whole microseconds of the wall clock since 1970, which doubles hold exactly and JSON carries as they are.
//! Other units are taken where the script names them. Binding only: arguments and refusals; `events.rs` has the
//! metrics. Refuses stamps that cannot be right, as milliseconds that nobody named: they would make a mean of years.

mod events;

use host::Phase;
use host::bytes;
use host::js::function::Opt;
use host::js::prelude::Func;
use host::js::{Array, Ctx, Exception, Object, Result, Value};
use host::messages::Note;

use self::events::{Hop, Ledger};
use script::arguments::present;
use script::builtins::ModuleDef;
use script::go_error;
use script::series;
use script::vu::Vu;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "onrush/delay",
    exports: &["stamp", "arrival", "record"],
    load,
    types: include_str!("types.d.ts"),
};

/// How far from now a stamp may be: clocks of machines differ, but not by days.
const MOST_APART_US: f64 = 86_400e6;

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let vu = Vu::of(ctx);
    events::define(vu.registry()).map_err(|error| go_error::throw(ctx, &format!("onrush/delay: {error}")))?;
    vu.messages.want_arrivals();
    let module = Object::new(ctx.clone())?;
    module.set("stamp", Func::from(stamp))?;
    module.set("arrival", Func::from(arrival))?;
    module.set("record", Func::from(record))?;
    Ok(module)
}

/// Whole microseconds since 1970, of a time by this machine's clock.
fn microseconds(vu: &Vu, ns: u64) -> f64 {
    (vu.test_time(ns) / 1000) as f64
}

/// `stamp(event?)`: now.
fn stamp<'js>(ctx: Ctx<'js>, event: Opt<Value<'js>>) -> Result<f64> {
    let vu = Vu::of(&ctx);
    if let Some(event) = present(event.0) {
        let event = event_name(&ctx, "stamp", &event)?;
        // Nobody reads the metrics of an app.
        if vu.phase() != Phase::Serving {
            refuse_in_init(&ctx, &vu, "stamp(event)")?;
            vu.worker_local::<Ledger>().sent(&vu, &event);
        }
    }
    vu.messages.note_stamp();
    Ok(microseconds(&vu, wire::wall_ns()))
}

/// `arrival()`: when the message whose handler runs reached this machine.
fn arrival(ctx: Ctx<'_>) -> Result<f64> {
    let vu = Vu::of(&ctx);
    match vu.messages.arrived_ns() {
        Some(ns) => Ok(microseconds(&vu, ns)),
        None => Err(Exception::throw_type(
            &ctx,
            "arrival: no message is being handled; call it in the handler of a message, before it waits for anything",
        )),
    }
}

/// Units that stamps may be in, and microseconds in each.
const UNITS: [(&str, &str, f64); 4] =
    [("us", "microseconds", 1.0), ("ms", "milliseconds", 1e3), ("s", "seconds", 1e6), ("ns", "nanoseconds", 1e-3)];

/// Arguments of `record` besides event and stamps.
struct RecordOptions<'js> {
    received: Option<Value<'js>>,
    tags: Option<Value<'js>>,
    /// Microseconds in the unit of stamps and receipt.
    unit: f64,
}

/// `received` and `tags` as arguments, or all in one object of options.
fn given<'js>(ctx: &Ctx<'js>, third: Option<Value<'js>>, tags: Option<Value<'js>>) -> Result<RecordOptions<'js>> {
    let Some(options) = present(third.clone()).and_then(Value::into_object) else {
        return Ok(RecordOptions { received: present(third), tags, unit: 1.0 });
    };
    for key in options.keys::<String>() {
        let key = key?;
        if !["unit", "received", "tags"].contains(&key.as_str()) {
            let message = format!("record: found the option '{key}', expected unit, received or tags");
            return Err(Exception::throw_type(ctx, &message));
        }
    }
    let option = |name: &str| options.get::<_, Value<'js>>(name).map(|value| present(Some(value)));
    let unit = option("unit")?.map_or(Ok(1.0), |unit| unit_of(ctx, &unit))?;
    Ok(RecordOptions { received: option("received")?, tags: option("tags")?.or(tags), unit })
}

fn unit_of<'js>(ctx: &Ctx<'js>, given: &Value<'js>) -> Result<f64> {
    let name = bytes::text(given)?;
    match UNITS.iter().find(|(short, ..)| name.as_deref() == Some(*short)) {
        Some((.., factor)) => Ok(*factor),
        None => {
            let found = name.map_or_else(|| given.type_name().to_owned(), |name| format!("'{name}'"));
            let message = format!("record: found the unit {found}, expected 'us', 'ms', 's' or 'ns'");
            Err(Exception::throw_type(ctx, &message))
        }
    }
}

/// `record(event, stamps, received, tags)` or `record(event, stamps, { unit, received, tags })`.
fn record<'js>(
    ctx: Ctx<'js>,
    event: Opt<Value<'js>>,
    stamps: Opt<Value<'js>>,
    received: Opt<Value<'js>>,
    tags: Opt<Value<'js>>,
) -> Result<()> {
    let vu = Vu::of(&ctx);
    if vu.phase() == Phase::Serving {
        return Err(Exception::throw_type(&ctx, "record: an app has no metrics; record in the test's script"));
    }
    refuse_in_init(&ctx, &vu, "record")?;
    let undefined = || Value::new_undefined(ctx.clone());
    let event = event_name(&ctx, "record", &event.0.unwrap_or_else(undefined))?;
    let now = microseconds(&vu, wire::wall_ns());
    let RecordOptions { received, tags, unit } = given(&ctx, received.0, tags.0)?;
    let (stamps, count) = stamps_of(&ctx, &stamps.0.unwrap_or_else(undefined), now, unit)?;
    let received = match received {
        Some(received) => checked(&ctx, "the time of receipt", &received, now, unit)?,
        None => arrival(ctx.clone())?,
    };
    let own = series::own_tags(&ctx, tags)?;
    let [sent, server_in, server_out] = stamps;
    let hops = [(Hop::Up, server_in - sent), (Hop::Inside, server_out - server_in), (Hop::Down, received - server_out)];
    let known = if count == 1 { &[][..] } else { &hops[..] };
    vu.worker_local::<Ledger>().received(&vu, &event, received - sent, known, &own);
    if vu.logs_messages() {
        vu.messages.replace_note(Some(Note { event, stamps: stamps[..count].to_vec() }));
    }
    Ok(())
}

fn refuse_in_init(ctx: &Ctx<'_>, vu: &Vu, what: &str) -> Result<()> {
    match vu.phase() {
        Phase::Init => Err(Exception::throw_type(ctx, &format!("{what} counts in a metric, which init code cannot"))),
        _ => Ok(()),
    }
}

fn event_name<'js>(ctx: &Ctx<'js>, function: &str, event: &Value<'js>) -> Result<String> {
    match bytes::text(event)?.filter(|name| !name.is_empty()) {
        Some(name) => Ok(name),
        None => {
            let found = if event.is_string() { "empty" } else { event.type_name() };
            let message = format!("{function}: the event is {found}, expected a name, as in {function}('edit', …)");
            Err(Exception::throw_type(ctx, &message))
        }
    }
}

/// The stamps and how many of them there are: one, or three.
fn stamps_of<'js>(ctx: &Ctx<'js>, given: &Value<'js>, now: f64, unit: f64) -> Result<([f64; 3], usize)> {
    let Some(array) = given.as_array() else {
        let sent = checked(ctx, "the stamp", given, now, unit)?;
        return Ok(([sent; 3], 1));
    };
    let name =
        |at: usize| ["the stamp of sending", "the server's stamp of receipt", "the server's stamp of sending"][at];
    let stamp = |array: &Array<'js>, at: usize| checked(ctx, name(at), &array.get::<Value<'js>>(at)?, now, unit);
    match array.len() {
        1 => Ok(([stamp(array, 0)?; 3], 1)),
        3 => Ok(([stamp(array, 0)?, stamp(array, 1)?, stamp(array, 2)?], 3)),
        other => {
            let message =
                format!("record: there are {other} stamps, expected one, or three: [sent, server in, server out]");
            Err(Exception::throw_type(ctx, &message))
        }
    }
}

/// A stamp that can be right, in microseconds; `unit` is how many of them its own unit has.
fn checked<'js>(ctx: &Ctx<'js>, what: &str, given: &Value<'js>, now: f64, unit: f64) -> Result<f64> {
    let of = UNITS.iter().find(|(.., factor)| *factor == unit).map_or("", |(_, name, _)| *name);
    let as_given = if unit == 1.0 { ", as stamp() gives them" } else { "" };
    let message = |found: &str| format!("record: {what} is {found}, expected {of} since 1970{as_given}");
    let refuse = |found: &str| Err(Exception::throw_type(ctx, &message(found)));
    let Some(number) = given.as_number() else { return refuse(given.type_name()) };
    if !number.is_finite() {
        return refuse(&number.to_string());
    }
    let is_near = |factor: f64| (number * factor - now).abs() <= MOST_APART_US;
    if is_near(unit) {
        return Ok(number * unit);
    }
    // Date.now() and seconds are the usual mistakes.
    match UNITS.iter().find(|(.., factor)| is_near(*factor)) {
        Some((short, name, _)) => {
            let message = message(&format!("{number}, which looks like {name}"));
            let hint = format!("{message}; name another unit as in record('edit', stamps, {{ unit: '{short}' }})");
            Err(Exception::throw_type(ctx, &hint))
        }
        None if number * unit > now => refuse(&format!("{number}, more than a day from now")),
        None => refuse(&format!("{number}, more than a day ago")),
    }
}
