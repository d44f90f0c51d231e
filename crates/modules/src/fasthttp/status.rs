//! `checkstatus(expected, response, tags?)`: a check of the status alone, for less than `check` with a function costs.
//!
//! Counted as a check of the name `check status is …`, which the extension gives it and thresholds of its users name.

use std::cell::RefCell;

use host::Phase;
use host::js::{Ctx, Exception, Function, Result, Value};
use host::plain::{self, Plain};
use metrics::{Series, SystemTag, builtin};

use script::Vu;
use script::series::{self, SampleTags, SeriesCache};

/// More than any script asks for.
const LIMIT: usize = 64;

/// The series of checks without tags of their own, by expected status and `Vu::tags_key`.
#[derive(Default)]
struct KnownStatuses(RefCell<Vec<(i32, u32, Series)>>);

struct CheckStatus;

/// The function.
pub fn function<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    plain::function::<CheckStatus>(ctx, c"checkstatus", 0)
}

impl Plain for CheckStatus {
    fn call<'js>(ctx: &Ctx<'js>, args: plain::Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let vu = Vu::of(ctx);
        if vu.phase() == Phase::Init {
            return Err(Exception::throw_message(ctx, "Using checkstatus() in the init context is not supported"));
        }
        let expected = args.get(0).and_then(|status| status.as_number());
        let Some(expected) = expected.filter(|status| status.fract() == 0.0 && status.abs() < 1e9) else {
            let found = args.get(0).map_or("nothing", |status| status.type_name());
            let message = format!("checkstatus() got {found}, expected a status and a response");
            return Err(Exception::throw_type(ctx, &message));
        };
        let expected = expected as i32;
        let status = match args.get(1).as_ref().and_then(Value::as_object) {
            Some(response) => response.get::<_, Value<'js>>("status")?.as_number(),
            None => None,
        };
        let held = status == Some(f64::from(expected));
        let tags = series::own_tags(ctx, args.get(2))?;
        let series = if tags.is_empty() { series_of(&vu, expected) } else { resolve(&vu, expected, tags) };
        vu.recorder().add(series, f64::from(u8::from(held)), vu.now_ns());
        Ok(Value::new_bool(ctx.clone(), held))
    }
}

fn series_of(vu: &Vu, expected: i32) -> Series {
    let (key, known) = (vu.tags_key(), vu.local::<KnownStatuses>());
    let found = known.0.borrow().iter().find(|(status, tags, _)| (*status, *tags) == (expected, key)).map(|k| k.2);
    if let Some(series) = found {
        return series;
    }
    let series = resolve(vu, expected, SampleTags::new());
    let mut known = known.0.borrow_mut();
    if known.len() >= LIMIT {
        known.clear();
    }
    known.push((expected, key, series));
    series
}

fn resolve(vu: &Vu, expected: i32, mut tags: SampleTags) -> Series {
    if vu.options().enabled_system_tags().has(SystemTag::Check) {
        tags.push(("check".to_owned(), format!("check status is {expected}")));
    }
    vu.worker_local::<SeriesCache>().resolve(vu, builtin::CHECKS, &tags)
}
