//! What the command line says goes before the plan: rounds, durations, seed, and which cells and variants.
//!
//! It changes the plan itself, so the result document tells what was run, and `--resume` compares that.

use clap::ArgMatches;
use report::matrix::cells::scalar;
use report::matrix::plan::{Plan, Variant};
use report::matrix::time::Time;
use serde_json::Value;

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// What the command line says goes before the plan.
pub fn apply(plan: &mut Plan, matches: &ArgMatches) -> Result<(), Failure> {
    let whole = |name: &str| -> Result<Option<u64>, Failure> {
        let Some(text) = matches.get_one::<String>(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| bad(name, text, "a whole number"))
    };
    let time = |name: &str| -> Result<Option<Time>, Failure> {
        let Some(text) = matches.get_one::<String>(name) else { return Ok(None) };
        Time::try_from(text.clone())
            .map(Some)
            .map_err(|_| bad(name, text, "a time with its unit, such as 500ms, 5s or 1m30s"))
    };
    if let Some(rounds) = whole("rounds")? {
        plan.rounds = u32::try_from(rounds).map_err(|_| bad("rounds", &rounds.to_string(), "fewer rounds"))?;
    }
    plan.seed = whole("seed")?.unwrap_or(plan.seed);
    plan.warm_up = time("warm-up")?.unwrap_or(plan.warm_up);
    if let Some(duration) = time("duration")? {
        let loads = std::iter::once(&mut plan.load).chain(plan.variants.iter_mut().filter_map(|v| v.load.as_mut()));
        for load in loads {
            load.requests = None;
            load.duration = None;
        }
        plan.load.duration = Some(duration.to_string());
    }
    only(plan, matches)
}

/// Leaves only the cells and variants that were asked for.
fn only(plan: &mut Plan, matches: &ArgMatches) -> Result<(), Failure> {
    let mut wanted: Vec<(String, Vec<String>)> = Vec::new();
    for text in matches.get_many::<String>("only").into_iter().flatten().flat_map(|text| text.split(',')) {
        let (axis, value) = text.split_once('=').ok_or_else(|| bad("only", text, "AXIS=VALUE"))?;
        match wanted.iter_mut().find(|(known, _)| known == axis) {
            Some((_, values)) => values.push(value.to_owned()),
            None => wanted.push((axis.to_owned(), vec![value.to_owned()])),
        }
    }
    for (axis, values) in wanted {
        if axis == "variant" {
            let names: Vec<String> = plan.variants.iter().map(|variant| variant.name.clone()).collect();
            all_known(&axis, &values, &names)?;
            plan.variants.retain(|variant| values.contains(&variant.name));
            continue;
        }
        let axes: Vec<String> = plan.axes.keys().cloned().collect();
        let Some(list) = plan.axes.get_mut(&axis).and_then(|list| list.as_array_mut()) else {
            return Err(bad("only", &axis, &format!("an axis ({}) or variant", axes.join(", "))));
        };
        let name = |value: &Value| scalar(value.get("name").unwrap_or(value)).unwrap_or_default();
        all_known(&axis, &values, &list.iter().map(name).collect::<Vec<_>>())?;
        list.retain(|value| values.contains(&name(value)));
        for variant in &mut plan.variants {
            narrow(variant, &axis, &values);
        }
        plan.variants
            .retain(|variant| variant.only.get(&axis).is_none_or(|v| v.as_array().is_none_or(|v| !v.is_empty())));
    }
    Ok(())
}

/// A variant's own limits name no values that are left out.
fn narrow(variant: &mut Variant, axis: &str, values: &[String]) {
    let Some(own) = variant.only.get_mut(axis) else { return };
    let list = match own.take() {
        Value::Array(list) => list,
        one => vec![one],
    };
    let kept = list.into_iter().filter(|value| scalar(value).is_some_and(|name| values.contains(&name)));
    *own = Value::Array(kept.collect());
}

fn all_known(axis: &str, values: &[String], known: &[String]) -> Result<(), Failure> {
    match values.iter().find(|value| !known.contains(value)) {
        Some(odd) => Err(bad("only", &format!("{axis}={odd}"), &format!("one of {}", known.join(", ")))),
        None => Ok(()),
    }
}

fn bad(flag: &str, found: &str, expected: &str) -> Failure {
    Failure::new(ExitCode::Generic, format!("--{flag}: found '{found}', expected {expected}"))
}
