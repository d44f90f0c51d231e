//! A user for unit tests: no embedder behind it, no modules.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Ctx, Error, Result, Value};

use crate::coroutine::stop::StopFlag;
use crate::intrinsics;
use crate::log::Silent;
use crate::module::Module;
use crate::runtime;
use crate::user::{Embedder, User, UserParts};

struct Nobody;

impl Embedder for Nobody {
    fn resolve(&self, _: &Ctx<'_>, _: &str, _: &str) -> Result<String> {
        Err(Error::Unknown)
    }

    fn load<'js>(&self, _: &Ctx<'js>, _: &str) -> Result<Module<'js>> {
        Err(Error::Unknown)
    }

    fn unhandled(&self, _: &Ctx<'_>, _: &Value<'_>) {}
}

/// Runs `f` in a fresh runtime of a user that has all of the language.
pub(crate) fn with_user<R>(f: impl for<'js> FnOnce(&Ctx<'js>) -> R) -> R {
    let parts =
        UserParts { stop: Rc::new(StopFlag::default()), worker: Rc::default(), log: Arc::new(Silent), hidden: &[] };
    runtime::enter(&User::new(parts), &Rc::new(Nobody), |ctx| {
        intrinsics::add_all(ctx).unwrap();
        f(ctx)
    })
    .unwrap()
}
