//! The parts of the language that not every script uses: made for a user when a module of its script names them.
//!
//! Each user has a runtime of its own and so pays for each class of each part: typed arrays alone are 16 KiB of a
//! user's 200. Native code that hands out a buffer asks for them itself (`bytes::array_buffer`).
//! Invariant: a script cannot tell; whatever it names is there before it runs.

use rquickjs::{Ctx, Result, qjs};

use crate::quickjs::collation;
pub use crate::quickjs::parts::Parts;
use crate::user::User;

/// Makes what this source of ours could use.
pub fn for_source(ctx: &Ctx<'_>, source: &str) -> Result<()> {
    add(ctx, Parts::named_in(source))
}

/// Makes what native code needs that is about to hand out a buffer.
pub(crate) fn for_buffers(ctx: &Ctx<'_>) -> Result<()> {
    add(ctx, Parts::BINARY)
}

/// Makes the missing parts.
pub fn add(ctx: &Ctx<'_>, parts: Parts) -> Result<()> {
    let user = User::of(ctx);
    let known = user.state.intrinsics.get();
    let missing = parts.0 & !known.0;
    if missing == 0 {
        return Ok(());
    }
    user.state.intrinsics.set(Parts(known.0 | missing));
    let context = ctx.as_raw().as_ptr();
    let has = |part: Parts| missing & part.0 != 0;
    // SAFETY: the context is live, and each of them is called once for it.
    unsafe {
        if has(Parts::BINARY) {
            qjs::JS_AddIntrinsicTypedArrays(context);
        }
        if has(Parts::COLLECTIONS) {
            qjs::JS_AddIntrinsicMapSet(context);
        }
        if has(Parts::DATES) {
            qjs::JS_AddIntrinsicDate(context);
        }
        if has(Parts::BEYOND_K6) {
            qjs::JS_AddIntrinsicWeakRef(context);
            qjs::JS_AddIntrinsicDOMException(context);
            qjs::JS_AddIntrinsicAToB(context);
            qjs::JS_AddPerformance(context);
        }
    }
    if has(Parts::COLLATION) {
        collation::install(ctx)?;
    }
    hide(ctx, &user)
}

/// Makes all that the language has, for programs that are no tests.
pub fn add_all(ctx: &Ctx<'_>) -> Result<()> {
    add(ctx, Parts(Parts::ALL.0 | Parts::BEYOND_K6.0))
}

/// Takes away the names that scripts of this user do not find; again whenever a part of the language was made.
pub fn hide(ctx: &Ctx<'_>, user: &User) -> Result<()> {
    user.hidden.iter().try_for_each(|name| ctx.globals().remove(*name))
}
