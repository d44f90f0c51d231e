//! Answers kept for values that a script hands over again and again, found by the value's identity instead of its
//! content.
//!
//! A loop asks for the same URL and names the same checks in every iteration, and the engine passes the very same
//! string or atom each time. Looking at its address costs a comparison; turning it into Rust text and hashing it costs
//! a tenth of what a request costs. Invariant: whatever is compared is kept alive here, so no other value can come to
//! lie at its address.

use std::cell::RefCell;

use rquickjs::{Ctx, Persistent, Value, qjs};

use crate::object::{self, Name};

/// The answer for one string: the last one.
pub struct LastText<T> {
    last: RefCell<Option<(Persistent<Value<'static>>, usize, T)>>,
}

impl<T> Default for LastText<T> {
    fn default() -> Self {
        LastText { last: RefCell::new(None) }
    }
}

impl<T: Clone> LastText<T> {
    /// The answer, when this is the string of the last `put`. A string of equal content elsewhere is another one.
    pub fn get(&self, value: &Value<'_>) -> Option<T> {
        let last = self.last.borrow();
        let (_, address, answer) = last.as_ref()?;
        (value.is_string() && address_of(value) == *address).then(|| answer.clone())
    }

    /// Keeps the answer for this string; other values are not kept.
    pub fn put<'js>(&self, ctx: &Ctx<'js>, value: &Value<'js>, answer: T) {
        if value.is_string() {
            let kept = (Persistent::save(ctx, value.clone()), address_of(value), answer);
            // The old one is dropped after the borrow has ended.
            let old = self.last.borrow_mut().replace(kept);
            drop(old);
        }
    }
}

/// A value that is known again by its address: a string, an object, or that there was none.
pub struct Identity {
    /// Null when there was none.
    address: usize,
    _kept: Option<Persistent<Value<'static>>>,
}

impl Identity {
    /// Of this value; `None` for values that have no address.
    pub fn of<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> Option<Identity> {
        let Some(value) = value.filter(|value| !is_nothing(value)) else {
            return Some(Identity { address: 0, _kept: None });
        };
        let has_address = value.is_string() || object::of(value).is_some();
        has_address.then(|| Identity { address: address_of(value), _kept: Some(Persistent::save(ctx, value.clone())) })
    }

    /// Whether it is the very same one.
    pub fn is(&self, value: Option<&Value<'_>>) -> bool {
        match value.filter(|value| !is_nothing(value)) {
            None => self.address == 0,
            Some(value) => (value.is_string() || object::of(value).is_some()) && address_of(value) == self.address,
        }
    }
}

fn is_nothing(value: &Value<'_>) -> bool {
    value.is_undefined() || value.is_null()
}

fn address_of(value: &Value<'_>) -> usize {
    // SAFETY: the pointer of a string or an object is looked at, not followed.
    unsafe { qjs::JS_VALUE_GET_PTR(value.as_raw()) as usize }
}

/// Answers by property name and a number.
pub struct NameMemo<T> {
    /// Owned atoms.
    known: RefCell<Vec<(qjs::JSAtom, u32, T)>>,
    runtime: std::cell::Cell<*mut qjs::JSRuntime>,
}

impl<T> Default for NameMemo<T> {
    fn default() -> Self {
        NameMemo { known: RefCell::default(), runtime: std::cell::Cell::new(std::ptr::null_mut()) }
    }
}

impl<T: Copy> NameMemo<T> {
    /// Names kept before it is emptied: a script that makes up names gains nothing from it and loses little.
    const LIMIT: usize = 64;

    /// The answer for this name and number.
    pub fn get(&self, name: &Name<'_, '_>, number: u32) -> Option<T> {
        let known = self.known.borrow();
        known.iter().find(|(atom, n, _)| *atom == name.atom() && *n == number).map(|(_, _, answer)| *answer)
    }

    /// Keeps an answer. All names have to be of one runtime.
    pub fn put(&self, name: &Name<'_, '_>, number: u32, answer: T) {
        if self.known.borrow().len() >= Self::LIMIT {
            self.clear();
        }
        // SAFETY: the context is live, and so is the atom as long as its name.
        let atom = unsafe {
            let context = name.ctx().as_raw().as_ptr();
            self.runtime.set(qjs::JS_GetRuntime(context));
            qjs::JS_DupAtom(context, name.atom())
        };
        self.known.borrow_mut().push((atom, number, answer));
    }
}

impl<T> NameMemo<T> {
    fn clear(&self) {
        for (atom, ..) in self.known.take() {
            // SAFETY: the atom is owned here, and a user's state goes before its runtime.
            unsafe { qjs::JS_FreeAtomRT(self.runtime.get(), atom) };
        }
    }
}

impl<T> Drop for NameMemo<T> {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Object, Runtime};

    use super::*;

    #[test]
    fn texts_are_known_by_identity() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            ctx.eval::<(), _>("var a = 'some text'; var b = ['some', 'text'].join(' ')").unwrap();
            let global = |name: &str| ctx.globals().get::<_, Value<'_>>(name).unwrap();
            let memo = LastText::default();
            assert_eq!(memo.get(&global("a")), None);
            memo.put(&ctx, &global("a"), 1);
            assert_eq!((memo.get(&global("a")), memo.get(&global("b"))), (Some(1), None));
            ctx.eval::<(), _>("a = null").unwrap();
            assert_eq!(memo.get(&global("a")), None);
            memo.put(&ctx, &global("b"), 2);
            assert_eq!(memo.get(&global("b")), Some(2));
            memo.put(&ctx, &Value::new_int(ctx.clone(), 5), 3);
            assert_eq!(memo.get(&Value::new_int(ctx.clone(), 5)), None);
        });
    }

    #[test]
    fn objects_and_nothing_are_known_by_identity() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            let value = |text: &str| ctx.eval::<Value<'_>, _>(text).unwrap();
            let object = value("({ a: 1 })");
            let known = Identity::of(&ctx, Some(&object)).unwrap();
            assert!(known.is(Some(&object)) && !known.is(Some(&value("({ a: 1 })"))) && !known.is(None));
            let nothing = Identity::of(&ctx, None).unwrap();
            assert!(nothing.is(Some(&value("null"))) && nothing.is(None) && !nothing.is(Some(&object)));
            assert!(Identity::of(&ctx, Some(&value("5"))).is_none());
            assert!(!nothing.is(Some(&value("0"))) && !nothing.is(Some(&value("0.5"))));
        });
    }

    #[test]
    fn names_are_kept_up_to_a_bound() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            let names: Object<'_> =
                ctx.eval("const o = {}; for (let n = 0; n < 200; n++) o['name ' + n] = n; o").unwrap();
            let memo = NameMemo::default();
            for round in 0..2 {
                let mut count = 0u32;
                object::each_entry(&ctx, &names, |name, _| {
                    assert_eq!(memo.get(&name, round), None);
                    memo.put(&name, round, count);
                    assert_eq!((memo.get(&name, round), memo.get(&name, 7)), (Some(count), None));
                    count += 1;
                    Ok(())
                })
                .unwrap();
                assert_eq!(count, 200);
            }
            assert!(memo.known.borrow().len() <= NameMemo::<u32>::LIMIT);
        });
    }
}
