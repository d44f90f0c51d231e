//! `k6/execution`: what a script can know about the test it is part of, and how it can end it.
//!
//! The four objects are made once per virtual user; their properties are read when the script reads them. What
//! describes an iteration throws where there is none, never at import, so that the objects can be imported by name.

mod text_map;

use std::cell::Cell;
use std::rc::Rc;

use engine::clock::Clock;
use engine::state::IterationNumber;
use engine::{Iteration, RunState};
use host::Phase;
use host::js::function::{Func, Opt};
use host::js::object::{Accessor, Property};
use host::js::{Ctx, IntoJs, Object, Result, Value};
use host::log::{Level, Record};
use host::object;

use script::Vu;
use script::arguments::text_or;
use script::builtins::ModuleDef;
use script::test_mark::TestMark;
use script::{exception, go_error, web};
use text_map::{TextStore, text_map};

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/execution",
    exports: &["instance", "scenario", "test", "vu"],
    load,
    types: include_str!("types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for (name, part) in
        [("instance", instance(ctx)?), ("scenario", scenario(ctx)?), ("test", test(ctx)?), ("vu", vu(ctx)?)]
    {
        module.prop(name, Property::from(part).enumerable())?;
    }
    Ok(module)
}

/// Defines a read-only property that `read` answers at each access.
fn getter<'js, T: IntoJs<'js> + 'js>(
    object: &Object<'js>,
    name: &str,
    read: impl Fn(&Ctx<'js>, &Vu) -> Result<T> + 'js,
) -> Result<()> {
    let get = move |ctx: Ctx<'js>| read(&ctx, &Vu::of(&ctx));
    object.prop(name, Accessor::from(get).enumerable())
}

fn vu<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    getter(&object, "idInInstance", |ctx, vu| running(ctx, vu).map(|()| vu.id() as f64))?;
    getter(&object, "idInTest", |ctx, vu| {
        running(ctx, vu).map(|()| vu.context().map_or(0, |context| context.id_in_test) as f64)
    })?;
    getter(&object, "iterationInInstance", |ctx, vu| running(ctx, vu).map(|()| vu.iterations_before()))?;
    getter(&object, "iterationInScenario", |ctx, vu| {
        running(ctx, vu).map(|()| vu.iteration().map_or(0, |iteration| iteration.in_scenario) as f64)
    })?;
    let tags = text_map(ctx, UserTags)?;
    fixed(&object, "tags", tags.clone())?;
    let metrics = Object::new(ctx.clone())?;
    metrics.prop("tags", Property::from(tags).enumerable())?;
    metrics.prop("metadata", Property::from(text_map(ctx, Metadata)?).enumerable())?;
    fixed(&object, "metrics", metrics.into_value())?;
    Ok(object)
}

/// A property that keeps its value and takes, as in k6, any other without a word to the script. In JavaScript, whose
/// collector sees what a function holds.
fn fixed<'js>(object: &Object<'js>, name: &str, value: Value<'js>) -> Result<()> {
    let define = "(object, name, value) => \
        Object.defineProperty(object, name, { get: () => value, set() {}, enumerable: true })";
    web::evaluate_bare(object.ctx(), "k6/execution/fixed.js", define)?.call((object.clone(), name, value))
}

/// Throws in init code.
fn running(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    available(ctx, vu, "VU information")
}

fn available(ctx: &Ctx<'_>, vu: &Vu, what: &str) -> Result<()> {
    match vu.phase() {
        Phase::Init => Err(go_error::throw(ctx, &format!("getting {what} in the init context is not supported"))),
        _ => Ok(()),
    }
}

fn scenario<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    getter(&object, "iterationInTest", |ctx, vu| number(ctx, vu).map(|number| number.in_test as f64))?;
    getter(&object, "name", |ctx, vu| iteration(ctx, vu).map(|iteration| iteration.scenario.name.clone()))?;
    getter(&object, "executor", |ctx, vu| iteration(ctx, vu).map(|iteration| iteration.scenario.executor))?;
    getter(&object, "startTime", |ctx, vu| {
        let started = iteration(ctx, vu)?.scenario.started;
        // As `Date.now()`, which scripts compare it with.
        Ok((vu.test_time(vu.clock().epoch_ns(started)) / 1_000_000) as f64)
    })?;
    getter(&object, "progress", |ctx, vu| {
        let index = iteration(ctx, vu)?.scenario.index;
        Ok(vu.context().map_or(0.0, |context| context.run.progress(index, vu.clock().now())))
    })?;
    getter(&object, "iterationInInstance", |ctx, vu| number(ctx, vu).map(|number| number.in_instance as f64))?;
    Ok(object)
}

/// The number of the current iteration, once it has been asked for.
#[derive(Default)]
struct AskedNumber {
    last: Cell<Option<(u64, IterationNumber)>>,
}

/// Numbers are given to iterations that ask, so that those who do not share no counter; who asks twice gets the same.
fn number(ctx: &Ctx<'_>, vu: &Vu) -> Result<IterationNumber> {
    let iteration = iteration(ctx, vu)?;
    let asked = vu.local::<AskedNumber>();
    let current = vu.iterations_before();
    if let Some((_, number)) = asked.last.get().filter(|(of, _)| *of == current) {
        return Ok(number);
    }
    let Some(context) = vu.context() else { return Ok(IterationNumber { in_instance: 0, in_test: 0 }) };
    let number = match iteration.number {
        Some(dealt) => context.run.iteration_number(iteration.scenario.index, dealt),
        None => context.run.next_scenario_iteration(&iteration.scenario),
    };
    asked.last.set(Some((current, number)));
    Ok(number)
}

fn iteration(ctx: &Ctx<'_>, vu: &Vu) -> Result<Iteration> {
    vu.iteration().filter(|_| vu.phase() == Phase::Iteration).ok_or_else(|| {
        let message = "getting scenario information outside of the VU context is not supported";
        go_error::throw(ctx, message)
    })
}

fn instance<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    getter(&object, "currentTestRunDuration", |ctx, vu| {
        available(ctx, vu, "instance information")?;
        Ok(vu.clock().now().as_secs_f64() * 1e3)
    })?;
    count(&object, "iterationsCompleted", |run| run.counts().completed)?;
    count(&object, "iterationsInterrupted", |run| run.counts().interrupted)?;
    count(&object, "vusActive", |run| run.counts().active)?;
    count(&object, "vusInitialized", RunState::vus_initialised)?;
    Ok(object)
}

/// A count of the run; 0 before the scenarios begin.
fn count<'js>(object: &Object<'js>, name: &str, read: impl Fn(&RunState) -> u64 + 'js) -> Result<()> {
    getter(object, name, move |ctx, vu| {
        available(ctx, vu, "instance information")?;
        Ok(vu.context().map_or(0, |context| read(&context.run)) as f64)
    })
}

fn test<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.prop("abort", Property::from(Func::from(abort)).enumerable())?;
    object.prop("fail", Property::from(Func::from(fail)).enumerable())?;
    getter(&object, "options", |ctx, vu| {
        available(ctx, vu, "test options")?;
        options(ctx, vu)
    })?;
    Ok(object)
}

/// A new frozen copy at each access, as in k6.
fn options<'js>(ctx: &Ctx<'js>, vu: &Vu) -> Result<Value<'js>> {
    let value = ctx.json_parse(vu.options().to_json().to_string())?;
    object::freeze_tree(ctx, &value)?;
    Ok(value)
}

fn abort<'js>(ctx: Ctx<'js>, reason: Opt<Value<'js>>) -> Result<()> {
    let message = with_reason("test aborted", &text_or(&ctx, reason, "")?);
    Err(exception::abort_test(&ctx, &Vu::of(&ctx), &message))
}

fn fail<'js>(ctx: Ctx<'js>, reason: Opt<Value<'js>>) -> Result<()> {
    let vu = Vu::of(&ctx);
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(&ctx, "Using test.fail() in the init context is not supported"));
    }
    let message = with_reason("test marked as failed", &text_or(&ctx, reason, "")?);
    vu.process::<TestMark>().fail();
    vu.log().log(&Record { level: Level::Error, message: &message, fields: &[] });
    Ok(())
}

fn with_reason(what: &str, reason: &str) -> String {
    if reason.is_empty() { what.to_owned() } else { format!("{what}: {reason}") }
}

/// `vu.tags` and `vu.metrics.tags`.
#[derive(Clone, Copy)]
struct UserTags;

impl TextStore for UserTags {
    const WHAT: &'static str = "tag";

    fn get(self, ctx: &Ctx<'_>, name: &str) -> Result<Option<String>> {
        let vu = Vu::of(ctx);
        running(ctx, &vu)?;
        Ok(vu.tags().get(name).map(str::to_owned))
    }

    fn set(self, ctx: &Ctx<'_>, name: &str, value: Option<&str>) -> Result<()> {
        let vu = Vu::of(ctx);
        running(ctx, &vu)?;
        vu.set_tag(name, value);
        Ok(())
    }

    fn names(self, ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let vu = Vu::of(ctx);
        running(ctx, &vu)?;
        Ok(vu.tags().iter().map(|(name, _)| name.to_string()).collect())
    }
}

/// `vu.metrics.metadata`.
#[derive(Clone, Copy)]
struct Metadata;

impl Metadata {
    fn vu(ctx: &Ctx<'_>) -> Result<Rc<Vu>> {
        let vu = Vu::of(ctx);
        running(ctx, &vu)?;
        Ok(vu)
    }
}

impl TextStore for Metadata {
    const WHAT: &'static str = "metadata";

    fn get(self, ctx: &Ctx<'_>, name: &str) -> Result<Option<String>> {
        Ok(Self::vu(ctx)?.metadata(name))
    }

    fn set(self, ctx: &Ctx<'_>, name: &str, value: Option<&str>) -> Result<()> {
        Self::vu(ctx)?.set_metadata(name, value);
        Ok(())
    }

    fn names(self, ctx: &Ctx<'_>) -> Result<Vec<String>> {
        Ok(Self::vu(ctx)?.metadata_names())
    }
}
