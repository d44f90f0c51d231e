//! `k6/metrics`: Counter, Gauge, Rate and Trend, metrics that a script defines and feeds.
//!
//! A metric is defined in init code, once for the run however many virtual users define it, and fed in iterations. What
//! cannot be counted (not a number, infinite) is refused with a warning, or with an error when the option `throw` is
//! set: one NaN would make a whole mean meaningless. `add` is bound to its metric, so scripts may pass it around.

use std::cell::Cell;

use host::Phase;
use host::bytes;
use host::js::function::{Constructor, Func, Opt};
use host::js::object::Property;
use host::js::{Coerced, Ctx, FromJs, Object, Result, Value};
use metrics::{Contains, Kind, MetricId, Series};

use script::Vu;
use script::arguments::{ArgumentError, text_or};
use script::builtins::ModuleDef;
use script::go_error;
use script::series::{self, SeriesCache};

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/metrics",
    exports: &["Counter", "Gauge", "Rate", "Trend"],
    load,
    types: include_str!("types.d.ts"),
};

const CLASSES: [(&str, Kind); 4] =
    [("Counter", Kind::Counter), ("Gauge", Kind::Gauge), ("Rate", Kind::Rate), ("Trend", Kind::Trend)];

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for (class, kind) in CLASSES {
        let construct = move |ctx: Ctx<'js>, name: Opt<Value<'js>>, is_time: Opt<Coerced<bool>>| {
            let is_time = is_time.0.is_some_and(|is_time| is_time.0);
            define(&ctx, kind, name, if is_time { Contains::Time } else { Contains::Default })
        };
        let prototype = Object::new(ctx.clone())?;
        let constructor = Constructor::new_prototype(ctx, prototype, construct)?;
        constructor.set_name(class)?;
        module.set(class, constructor)?;
    }
    Ok(module)
}

fn define<'js>(ctx: &Ctx<'js>, kind: Kind, name: Opt<Value<'js>>, contains: Contains) -> Result<Object<'js>> {
    let vu = Vu::of(ctx);
    if vu.phase() != Phase::Init {
        return Err(go_error::throw(ctx, "metrics must be declared in the init context"));
    }
    let name = text_or(ctx, name, "")?;
    let metric = Metric::define(ctx, &vu, &name, kind, contains)?;
    let object = Object::new(ctx.clone())?;
    object.prop("name", Property::from(name.as_str()).enumerable())?;
    let add = move |ctx: Ctx<'js>, value: Opt<Value<'js>>, tags: Opt<Value<'js>>| metric.add(&ctx, value, tags);
    object.prop("add", Property::from(Func::from(add)).enumerable())?;
    Ok(object)
}

/// One metric in one virtual user.
pub struct Metric {
    id: MetricId,
    name: String,
    /// The series of the last sample without tags of its own, and the `Vu::tags_key` it is for.
    last: Cell<Option<(u32, Series)>>,
}

impl Metric {
    /// Defines it for the run, or finds the one that another user has defined; in init code.
    pub fn define(ctx: &Ctx<'_>, vu: &Vu, name: &str, kind: Kind, contains: Contains) -> Result<Metric> {
        let id =
            vu.registry().define(name, kind, contains).map_err(|error| go_error::throw(ctx, &error.to_string()))?;
        if kind == Kind::Trend {
            // How long messages of each kind took, as `onrush/delay` has it.
            vu.registry().split_in_details(id, &["event"]);
        }
        Ok(Metric { id, name: name.into(), last: Cell::new(None) })
    }

    /// Adds what native code counts or measures.
    pub fn put(&self, ctx: &Ctx<'_>, vu: &Vu, value: f64) -> Result<()> {
        let series = self.series(ctx, vu, Opt(None))?;
        vu.recorder().add(series, value, vu.now_ns());
        Ok(())
    }

    /// Adds a sample; whether it was counted.
    fn add<'js>(&self, ctx: &Ctx<'js>, value: Opt<Value<'js>>, tags: Opt<Value<'js>>) -> Result<bool> {
        let vu = Vu::of(ctx);
        if vu.phase() == Phase::Init {
            return Err(go_error::throw(ctx, "Adding to metrics in the init context is not supported"));
        }
        let value = match self.number(ctx, value) {
            Ok(value) => value,
            Err(ArgumentError::Thrown(error)) => return Err(error),
            Err(ArgumentError::Refused(refusal)) if vu.options().throw.unwrap_or(false) => {
                return Err(go_error::throw(ctx, &refusal));
            }
            Err(ArgumentError::Refused(refusal)) => {
                vu.log().warn(&refusal, &[]);
                return Ok(false);
            }
        };
        let series = self.series(ctx, &vu, tags)?;
        vu.recorder().add(series, value, vu.now_ns());
        Ok(true)
    }

    fn number<'js>(&self, ctx: &Ctx<'js>, value: Opt<Value<'js>>) -> std::result::Result<f64, ArgumentError<String>> {
        let name = &self.name;
        let Some(value) = value.0 else {
            let refusal = format!("no value was provided for metric '{name}', a number or a boolean value is expected");
            return Err(ArgumentError::Refused(refusal));
        };
        let number = if value.is_null() { f64::NAN } else { Coerced::<f64>::from_js(ctx, value.clone())?.0 };
        if !number.is_finite() {
            let text = bytes::to_text(ctx, &value)?;
            let refusal =
                format!("'{text}' is an invalid value for metric '{name}', a number or a boolean value is expected");
            return Err(ArgumentError::Refused(refusal));
        }
        Ok(number)
    }

    fn series<'js>(&self, ctx: &Ctx<'js>, vu: &Vu, tags: Opt<Value<'js>>) -> Result<Series> {
        let own = series::own_tags(ctx, tags.0)?;
        let key = vu.tags_key();
        match self.last.get() {
            Some((last, series)) if last == key && own.is_empty() => return Ok(series),
            _ => {}
        }
        let series = vu.worker_local::<SeriesCache>().resolve(vu, self.id, &own);
        if own.is_empty() {
            self.last.set(Some((key, series)));
        }
        Ok(series)
    }
}
