//! `k6/x/kv`: values by key that all users of the test share, in memory or in a file.
//!
//! Values are kept as text, because each user has a heap of its own. A call on the memory is carried out at once, one
//! on a file on a thread that may block. The methods are those of the extension and of its fork by oshokin.

mod disk;
mod methods;
mod operations;
mod options;
mod store;

use host::Phase;
use host::js::function::Opt;
use host::js::prelude::Func;
use host::js::{Ctx, Error, Exception, Object, Result, Value};
use host::native;
use script::Vu;
use script::arguments::given;
use script::builtins::ModuleDef;
use script::go_error;

use methods::Kv;
use options::Stores;
use store::KvError;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/kv", exports: &["openKv"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("openKv", Func::from(open))?;
    Ok(module)
}

fn open<'js>(ctx: Ctx<'js>, options: Opt<Value<'js>>) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() != Phase::Init {
        return Err(go_error::throw(&ctx, "openKv() must be called in the init context"));
    }
    let options = options::read(&ctx, given(options).as_ref())?.map_err(|error| throw(&ctx, &error))?;
    let store = vu.process::<Stores>().open(&options).map_err(|error| throw(&ctx, &error))?;
    native::object(&ctx, Kv::new(store, options.serialization))
}

/// Throws a failure under its name.
fn throw(ctx: &Ctx<'_>, error: &KvError) -> Error {
    if error.name == "GoError" {
        return go_error::throw(ctx, &error.text);
    }
    let made = Exception::from_message(ctx.clone(), &error.text);
    match made.and_then(|exception| exception.set("name", error.name).map(|()| exception)) {
        Ok(exception) => ctx.throw(exception.into_value()),
        Err(error) => error,
    }
}
