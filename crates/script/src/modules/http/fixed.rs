//! Requests that cannot change from one time to the next, prepared once.
//!
//! A request is the same as the last one when method and URL are, no cookie is about, its params are missing or frozen through
//! and through, and its body is missing or the same short string. Then nothing is read again: neither script nor run can tell,
//! and a check of three addresses replaces a walk through objects. Frozen params are kept by themselves as well, for bodies
//! that differ. Nothing that holds the state of a single request (digests, callbacks, jars) is kept.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::{Ctx, Result, Value};

use super::intake::Intake;
use super::params::Params;
use super::request::{Args, Prepared};
use super::url::Target;
use crate::host::memo::Identity;
use crate::host::object;

/// Bodies up to this length, which are copied rather than lent, may be kept.
const SHORT: u64 = 4 << 10;

/// What a virtual user asked for last.
#[derive(Default)]
pub struct Fixed {
    last: RefCell<Option<Last>>,
    params: RefCell<Option<(Identity, Params)>>,
}

struct Last {
    prepared: Rc<Prepared>,
    body: Identity,
    params: Identity,
}

impl Fixed {
    /// The last request, when this is the same.
    pub fn request(&self, target: &Rc<Target>, args: &Args<'_, '_>) -> Option<Rc<Prepared>> {
        let last = self.last.borrow();
        let Last { prepared, body, params } = last.as_ref()?;
        let same = Rc::ptr_eq(&prepared.sent.target, target)
            && prepared.sent.method == args.method
            && body.is(args.body)
            && params.is(args.params);
        same.then(|| Rc::clone(prepared))
    }

    /// Keeps a request if nothing about it can change.
    pub fn keep<'js>(&self, ctx: &Ctx<'js>, args: &Args<'_, 'js>, prepared: &Rc<Prepared>) {
        let short = prepared.sent.body.as_ref().is_none_or(|body| body.len() <= SHORT);
        let text = args.body.is_none_or(|body| body.is_string() || body.is_undefined() || body.is_null());
        if !(short && text && self.are_kept(args.params) && describes_itself(prepared)) {
            return;
        }
        if let (Some(body), Some(params)) = (Identity::of(ctx, args.body), Identity::of(ctx, args.params)) {
            // The old one is dropped after the borrow has ended.
            let old = self.last.borrow_mut().replace(Last { prepared: Rc::clone(prepared), body, params });
            drop(old);
        }
    }

    /// What is prepared from now on would not be what was prepared before.
    pub fn forget(&self) {
        let old = self.last.take();
        drop(old);
    }

    /// Params that were read before and are frozen.
    pub fn params(&self, value: Option<&Value<'_>>) -> Option<Params> {
        let known = self.params.borrow();
        known.as_ref().filter(|(identity, _)| value.is_some() && identity.is(value)).map(|(_, params)| params.clone())
    }

    /// Keeps params if nothing in them can change.
    pub fn keep_params<'js>(&self, ctx: &Ctx<'js>, value: Option<&Value<'js>>, params: &Params) -> Result<()> {
        let Some(value) = value.filter(|value| object::of(value).is_some()) else { return Ok(()) };
        if !matches!(params.intake, Intake::Body) || params.jar.is_some() || !object::is_frozen_tree(value)? {
            return Ok(());
        }
        if let Some(identity) = Identity::of(ctx, Some(value)) {
            let old = self.params.borrow_mut().replace((identity, params.clone()));
            drop(old);
        }
        Ok(())
    }

    /// Whether these params are missing, or the ones that were kept.
    fn are_kept(&self, value: Option<&Value<'_>>) -> bool {
        let missing = value.is_none_or(|value| value.is_undefined() || value.is_null());
        missing || self.params.borrow().as_ref().is_some_and(|(identity, _)| identity.is(value))
    }
}

/// Headers about the body that do not fit it are warned of each time.
fn describes_itself(prepared: &Prepared) -> bool {
    let headers = prepared.sent.request.iter().flat_map(|request| request.headers.iter());
    !headers.into_iter().any(|(name, _)| name == "Content-Length" || name == "Content-Encoding")
}
