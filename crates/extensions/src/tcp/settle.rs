//! A promise that the event loop settles when a connection has got there.

use host::js::prelude::This;
use host::js::{Ctx, Function, Object, Persistent, Promise, Result, Value};

/// What settles a promise of the script.
pub struct Settle {
    promise: Persistent<Promise<'static>>,
    resolve: Persistent<Function<'static>>,
    reject: Persistent<Function<'static>>,
}

impl Settle {
    /// A promise and what settles it.
    pub fn new<'js>(ctx: &Ctx<'js>) -> Result<(Promise<'js>, Settle)> {
        let (promise, resolve, reject) = ctx.promise()?;
        let settle = Settle {
            promise: Persistent::save(ctx, promise.clone()),
            resolve: Persistent::save(ctx, resolve),
            reject: Persistent::save(ctx, reject),
        };
        Ok((promise, settle))
    }

    /// Keeps it.
    pub fn resolve(self, ctx: &Ctx<'_>) -> Result<()> {
        self.resolve.restore(ctx)?.call(())
    }

    /// Rejects it. Somebody else `was_told` of the failure: then a promise that nobody looks after is no mistake.
    pub fn reject<'js>(self, ctx: &Ctx<'js>, why: Value<'js>, was_told: bool) -> Result<()> {
        if was_told {
            let promise: Object<'js> = self.promise.restore(ctx)?.into_inner();
            let catch: Function<'js> = promise.get("catch")?;
            catch.call::<_, ()>((This(promise), Function::new(ctx.clone(), || ())?))?;
        }
        self.reject.restore(ctx)?.call((why,))
    }
}
