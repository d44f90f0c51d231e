//! The class `Faker`: an object for each group, made when the script first asks for it, whose functions need no `this`.

use std::cell::RefCell;
use std::rc::Rc;

use host::bytes;
use host::js::function::{Constructor, Opt, Rest, This};
use host::js::object::{Accessor, Property};
use host::js::prelude::Func;
use host::js::{Array, Coerced, Ctx, Error, Exception, FromJs, Object, Result, Value};
use host::native::{self, NativeClass};
use script::Vu;
use script::arguments::{given, present, text_or};
use script::go_error;

use super::groups::{self, ALL, GROUPS, Group};
use super::make::date;
use super::make::draw::Draw;
use super::make::function::{Argument, ArgumentList, Function, Parameter, ParameterKind};

/// The choices of a `Faker`, for all its groups.
type Choices = Rc<RefCell<Draw>>;

/// What the script holds.
struct Faker(Choices);

impl NativeClass for Faker {
    const NAME: &'static str = "Faker";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("call", Func::from(call))?;
        for group in GROUPS.iter() {
            let get = move |ctx: Ctx<'js>, This(this): This<Value<'js>>| group_of(&ctx, &this, group);
            prototype.prop(group.name, Accessor::from(get).configurable().enumerable())?;
        }
        Ok(())
    }
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>, seed: Opt<Value<'js>>| {
        let seed = given(seed).map(|seed| Coerced::<f64>::from_js(&ctx, seed)).transpose()?.map_or(0.0, |seed| seed.0);
        if !seed.is_finite() || seed.fract() != 0.0 {
            return Err(go_error::throw(&ctx, &format!("new Faker(): the seed is {seed}, expected a whole number")));
        }
        object(&ctx, seed as i64 as u64)
    };
    let constructor = Constructor::new_prototype(ctx, native::prototype::<Faker>(ctx)?, make)?;
    constructor.set_name("Faker")?;
    Ok(constructor)
}

/// A faker of this seed.
pub fn object<'js>(ctx: &Ctx<'js>, seed: u64) -> Result<Object<'js>> {
    native::object(ctx, Faker(Rc::new(RefCell::new(Draw::new(seed, groups::find)))))
}

fn choices<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> Result<Choices> {
    let choices = native::with(this, |faker: &Faker| Rc::clone(&faker.0));
    choices.ok_or_else(|| Exception::throw_type(ctx, "this belongs to a Faker: use it on one"))
}

/// The object of a group; from now on it is a property of the faker itself.
fn group_of<'js>(ctx: &Ctx<'js>, this: &Value<'js>, group: &'static Group) -> Result<Object<'js>> {
    let choices = choices(ctx, this)?;
    let object = Object::new(ctx.clone())?;
    let functions: Box<dyn Iterator<Item = &'static Function>> = match group.name {
        ALL => Box::new(groups::all()),
        _ => Box::new(group.functions.iter()),
    };
    for function in functions {
        let choices = Rc::clone(&choices);
        let run = move |ctx: Ctx<'js>, args: Rest<Value<'js>>| run(&ctx, &choices, function, args.0);
        let run = host::js::Function::new(ctx.clone(), run)?;
        run.set_name(function.name)?;
        object.set(function.name, run)?;
    }
    if let Some(faker) = this.as_object() {
        faker.prop(group.name, Property::from(object.clone()).configurable())?;
    }
    Ok(object)
}

fn call<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    name: Opt<Value<'js>>,
    args: Rest<Value<'js>>,
) -> Result<Value<'js>> {
    let (choices, name) = (choices(&ctx, &this)?, text_or(&ctx, name, "")?);
    match groups::find(&name) {
        Some(function) => run(&ctx, &choices, function, args.0),
        None => {
            let wanted = name.to_lowercase();
            let distance = |function: &&Function| strsim::levenshtein(&function.name.to_lowercase(), &wanted);
            let near = groups::all().min_by_key(distance).map_or("", |function| function.name);
            let names: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
            let text = format!(
                "call(): no function is called {name:?}; {near:?} comes near. The groups are {}",
                names.join(", ")
            );
            Err(go_error::throw(&ctx, &text))
        }
    }
}

fn run<'js>(ctx: &Ctx<'js>, choices: &Choices, function: &Function, args: Vec<Value<'js>>) -> Result<Value<'js>> {
    let refuse = |why: &str| go_error::throw(ctx, &format!("{}(): {why}", function.name));
    let mut args = args.into_iter();
    let mut read = Vec::with_capacity(function.parameters.len());
    for (index, parameter) in function.parameters.iter().enumerate() {
        let argument = match present(args.next()) {
            Some(value) => argument(ctx, parameter, &value)?,
            None => parameter.standard().ok_or_else(|| String::from("missing")),
        };
        read.push(argument.map_err(|found| {
            let (number, name) = (index + 1, parameter.name);
            refuse(&format!("argument {number}, {name}, is {found}, expected {}", parameter.kind.name()))
        })?);
    }
    let made = {
        let mut draw = choices.borrow_mut();
        draw.now = date::from_epoch(Vu::of(ctx).now_ns());
        function.make(&mut draw, &ArgumentList(read))
    };
    made.map_err(|why| refuse(&why))?.to_js(ctx)
}

/// The argument, or what was found.
fn argument<'js>(
    ctx: &Ctx<'js>,
    parameter: &Parameter,
    value: &Value<'js>,
) -> Result<std::result::Result<Argument, String>> {
    let found = || Ok::<_, Error>(Err(Coerced::<String>::from_js(ctx, value.clone())?.0));
    match parameter.kind {
        ParameterKind::Number => match value.as_number().filter(|number| number.is_finite()) {
            Some(number) => Ok(Ok(Argument::Number(number))),
            None => found(),
        },
        ParameterKind::Text => Ok(Ok(Argument::Text(bytes::to_text(ctx, value)?))),
        ParameterKind::Flag => value.as_bool().map_or_else(found, |flag| Ok(Ok(Argument::Flag(flag)))),
        ParameterKind::Numbers | ParameterKind::Texts => match value.as_array() {
            None => found(),
            Some(list) => elements(ctx, parameter.kind, list),
        },
    }
}

fn elements<'js>(
    ctx: &Ctx<'js>,
    kind: ParameterKind,
    list: &Array<'js>,
) -> Result<std::result::Result<Argument, String>> {
    let (mut numbers, mut texts) = (Vec::new(), Vec::new());
    for element in list.iter::<Value<'js>>() {
        let element = element?;
        match (kind, element.as_number().filter(|number| number.is_finite())) {
            (ParameterKind::Numbers, Some(number)) => numbers.push(number),
            (ParameterKind::Numbers, None) => {
                return Ok(Err(format!("a list with {}", Coerced::<String>::from_js(ctx, element)?.0)));
            }
            _ => texts.push(bytes::to_text(ctx, &element)?),
        }
    }
    Ok(Ok(if kind == ParameterKind::Numbers { Argument::Numbers(numbers) } else { Argument::Texts(texts) }))
}
