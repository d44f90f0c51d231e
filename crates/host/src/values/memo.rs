//! Answers kept for values that a script hands over again and again, found by the value itself
//! instead of what is made of it.
//!
//! A loop asks for the same URL and names the same checks in every iteration, and the engine passes the very same
//! string or atom each time, or one of the same letters. Comparing them costs little; turning them into Rust text and
//! hashing it costs a tenth of what a request costs. Invariant: whatever is compared is kept alive here, so no other
//! value can come to lie at its address.

use std::cell::{Cell, RefCell};

use rquickjs::{Ctx, Persistent, Value, qjs};

use crate::values::object::{self, Name};
use crate::values::own_data::{OwnData, OwnProperties};

/// The answer for one string: the last one.
pub struct LastText<T> {
    last: RefCell<Option<(Identity, T)>>,
}

impl<T> Default for LastText<T> {
    fn default() -> Self {
        LastText { last: RefCell::new(None) }
    }
}

impl<T: Clone> LastText<T> {
    /// The answer, when this is the string of the last `put`, or one that says the same.
    pub fn get(&self, value: &Value<'_>) -> Option<T> {
        let last = self.last.borrow();
        let (known, answer) = last.as_ref()?;
        (value.is_string() && known.is(Some(value))).then(|| answer.clone())
    }

    /// Keeps the answer for this string; other values are not kept.
    pub fn put<'js>(&self, ctx: &Ctx<'js>, value: &Value<'js>, answer: T) {
        if value.is_string() {
            let kept = Identity::of(ctx, Some(value)).map(|known| (known, answer));
            // The old one is dropped after the borrow has ended.
            let old = self.last.replace(kept);
            drop(old);
        }
    }
}

/// The answers for the last few strings, for places that are asked about some in turn.
pub struct FewTexts<T> {
    known: RefCell<Vec<(Identity, T)>>,
    /// Which one goes next.
    oldest: Cell<usize>,
}

/// Strings that a `FewTexts` knows at most.
const FEW: usize = 8;

impl<T> Default for FewTexts<T> {
    fn default() -> Self {
        FewTexts { known: RefCell::default(), oldest: Cell::default() }
    }
}

impl<T: Clone> FewTexts<T> {
    /// The answer for this string, or for one that says the same.
    pub fn get(&self, value: &Value<'_>) -> Option<T> {
        let known = self.known.borrow();
        let of_text = known.iter().find(|(known, _)| value.is_string() && known.is(Some(value)));
        of_text.map(|(_, answer)| answer.clone())
    }

    /// Keeps the answer for this string; other values are not kept.
    pub fn put<'js>(&self, ctx: &Ctx<'js>, value: &Value<'js>, answer: T) {
        let Some(identity) = Identity::of(ctx, Some(value)).filter(|_| value.is_string()) else { return };
        let oldest = self.oldest.replace((self.oldest.get() + 1) % FEW);
        let mut known = self.known.borrow_mut();
        let old = match known.get_mut(oldest) {
            Some(place) => Some(std::mem::replace(place, (identity, answer))),
            None => {
                known.push((identity, answer));
                None
            }
        };
        // The old one is dropped after the borrow has ended.
        drop(known);
        drop(old);
    }
}

/// A value that is known again: a string by its address, or failing that by its letters, an object by its address, or
/// that there was none.
pub struct Identity {
    /// Undefined when there was none.
    raw: qjs::JSValue,
    kept: Option<Persistent<Value<'static>>>,
}

impl Identity {
    /// Of this value; `None` for values that have no address.
    pub fn of<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> Option<Identity> {
        let Some(value) = value.filter(|value| !is_nothing(value)) else {
            return Some(Identity { raw: qjs::JS_UNDEFINED, kept: None });
        };
        let has_address = value.is_string() || object::of(value).is_some();
        has_address.then(|| Identity { raw: value.as_raw(), kept: Some(Persistent::save(ctx, value.clone())) })
    }

    /// Whether it is the very same one, or the same text.
    #[inline]
    pub fn is(&self, value: Option<&Value<'_>>) -> bool {
        match value.filter(|value| !is_nothing(value)) {
            None => self.kept.is_none(),
            Some(_) if self.kept.is_none() => false,
            // SAFETY: both are live.
            Some(value) => unsafe { is_same(value.ctx().as_raw().as_ptr(), self.raw, value.as_raw()) },
        }
    }
}

/// Whether two values are the same object, texts of the same letters, or the same as primitives.
///
/// # Safety
/// A live context and two live values.
unsafe fn is_same(context: *mut qjs::JSContext, one: qjs::JSValue, other: qjs::JSValue) -> bool {
    // SAFETY: by the contract of this function; comparing strictly runs no script.
    unsafe {
        let tags = (qjs::JS_VALUE_GET_TAG(one), qjs::JS_VALUE_GET_TAG(other));
        let has_address = |tag| tag == qjs::JS_TAG_STRING || tag == qjs::JS_TAG_OBJECT;
        tags.0 == tags.1 && has_address(tags.0) && qjs::JS_VALUE_GET_PTR(one) == qjs::JS_VALUE_GET_PTR(other)
            || qjs::JS_IsStrictEqual(context, one, other)
    }
}

/// A value that is known again by what it holds: texts, numbers and the like, or plain objects of such, four deep at
/// most.
pub struct PlainData {
    held: Held,
    runtime: *mut qjs::JSRuntime,
}

enum Held {
    /// Owned.
    Leaf(qjs::JSValue),
    /// Owned names.
    Object(Box<[(qjs::JSAtom, Held)]>),
}

impl PlainData {
    const DEEPEST: usize = 4;
    /// Properties of one object.
    const MOST: usize = 32;

    /// Of this value; `None` when there is more in it than plain data.
    pub fn of(value: &Value<'_>) -> Option<PlainData> {
        let context = value.ctx().as_raw().as_ptr();
        // SAFETY: a live context.
        let runtime = unsafe { qjs::JS_GetRuntime(context) };
        // SAFETY: context and value are live.
        Some(PlainData { held: unsafe { hold(context, value.as_raw(), Self::DEEPEST) }?, runtime })
    }

    /// Whether it holds the same; false for a value of another runtime, whose names mean nothing here.
    #[inline]
    pub fn is(&self, value: &Value<'_>) -> bool {
        let context = value.ctx().as_raw().as_ptr();
        // SAFETY: context and value are live, and both are of the runtime that `held` is of.
        unsafe { qjs::JS_GetRuntime(context) == self.runtime && holds(context, &self.held, value.as_raw()) }
    }
}

impl Drop for PlainData {
    fn drop(&mut self) {
        // SAFETY: what is held was counted by `hold`, and a user's state goes before its runtime.
        unsafe { let_go(self.runtime, &self.held) }
    }
}

/// Counts a value and what is in it, if all of it is plain data.
///
/// # Safety
/// A live context and value.
unsafe fn hold(context: *mut qjs::JSContext, value: qjs::JSValue, depth: usize) -> Option<Held> {
    // SAFETY: by the contract of this function; nothing runs while the properties are looked at.
    unsafe {
        match qjs::JS_VALUE_GET_NORM_TAG(value) {
            qjs::JS_TAG_INT | qjs::JS_TAG_BOOL | qjs::JS_TAG_NULL | qjs::JS_TAG_UNDEFINED | qjs::JS_TAG_FLOAT64 => {}
            _ if qjs::JS_IsString(value) => {}
            qjs::JS_TAG_OBJECT if depth > 0 => {
                let found: Option<Vec<OwnData>> = OwnProperties::of(context, value).take(PlainData::MOST + 1).collect();
                let found = found.filter(|found| found.len() <= PlainData::MOST)?;
                let mut held = Vec::with_capacity(found.len());
                let all = found.iter().all(|found| match hold(context, found.value, depth - 1) {
                    Some(value) => {
                        held.push((qjs::JS_DupAtom(context, found.name), value));
                        true
                    }
                    None => false,
                });
                let held = Held::Object(held.into());
                if !all {
                    let_go(qjs::JS_GetRuntime(context), &held);
                    return None;
                }
                return Some(held);
            }
            _ => return None,
        }
        Some(Held::Leaf(qjs::JS_DupValue(context, value)))
    }
}

/// Whether a value is as it was held.
///
/// # Safety
/// A live context and value.
unsafe fn holds(context: *mut qjs::JSContext, held: &Held, value: qjs::JSValue) -> bool {
    // SAFETY: by the contract of this function; nothing runs while properties are looked at.
    unsafe {
        match held {
            Held::Leaf(leaf) => is_same(context, *leaf, value),
            Held::Object(held) => {
                if !qjs::JS_IsObject(value) {
                    return false;
                }
                let mut found = OwnProperties::of(context, value);
                let all = held.iter().all(|(name, held)| match found.next().flatten() {
                    Some(found) => found.name == *name && holds(context, held, found.value),
                    None => false,
                });
                all && found.next().is_none()
            }
        }
    }
}

/// # Safety
/// The live runtime of what is held, which is given back once.
unsafe fn let_go(runtime: *mut qjs::JSRuntime, held: &Held) {
    // SAFETY: by the contract of this function.
    unsafe {
        match held {
            Held::Leaf(value) => qjs::JS_FreeValueRT(runtime, *value),
            Held::Object(held) => {
                for (name, held) in held {
                    qjs::JS_FreeAtomRT(runtime, *name);
                    let_go(runtime, held);
                }
            }
        }
    }
}

fn is_nothing(value: &Value<'_>) -> bool {
    value.is_undefined() || value.is_null()
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

    /// Whether a name is of the runtime that the names kept are of.
    fn knows(&self, name: &Name<'_, '_>) -> bool {
        // SAFETY: a live context; addresses are compared.
        unsafe { qjs::JS_GetRuntime(name.ctx().as_raw().as_ptr()) == self.runtime.get() }
    }

    /// The answer for this name and number.
    pub fn get(&self, name: &Name<'_, '_>, number: u32) -> Option<T> {
        if !self.knows(name) {
            return None;
        }
        let known = self.known.borrow();
        known.iter().find(|(atom, n, _)| *atom == name.atom() && *n == number).map(|(_, _, answer)| *answer)
    }

    /// Keeps an answer. All names are of one runtime, the first one's; others are not kept.
    pub fn put(&self, name: &Name<'_, '_>, number: u32, answer: T) {
        if !self.runtime.get().is_null() && !self.knows(name) {
            return;
        }
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
    fn texts_are_known_again() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            ctx.eval::<(), _>("var a = 'some text'; var b = ['some', 'text'].join(' ')").unwrap();
            let global = |name: &str| ctx.globals().get::<_, Value<'_>>(name).unwrap();
            let memo = LastText::default();
            assert_eq!(memo.get(&global("a")), None);
            memo.put(&ctx, &global("a"), 1);
            assert_eq!((memo.get(&global("a")), memo.get(&global("b"))), (Some(1), Some(1)));
            ctx.eval::<(), _>("a = null").unwrap();
            assert_eq!((memo.get(&global("a")), memo.get(&global("b"))), (None, Some(1)));
            ctx.eval::<(), _>("b = 'some other text'").unwrap();
            assert_eq!(memo.get(&global("b")), None);
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
    fn plain_data_is_known_by_what_it_holds() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            ctx.eval::<(), _>(
                "const t = ['to', 'ken'].join(''); const o = { h: { a: 'x', b: t }, n: 1.5, u: undefined }",
            )
            .unwrap();
            let value = |text: &str| ctx.eval::<Value<'_>, _>(text).unwrap();
            let known = PlainData::of(&value("o")).unwrap();
            assert!(known.is(&value("o")) && known.is(&value("({ h: { a: o.h.a, b: t }, n: 1.5, u: undefined })")));
            for other in [
                "({ h: { a: o.h.a, b: t }, n: 1.5 })",
                "({ h: { a: o.h.a, b: t }, n: 2, u: undefined })",
                "({ h: { b: t, a: o.h.a }, n: 1.5, u: undefined })",
                "({ h: { a: o.h.a, b: t, c: 1 }, n: 1.5, u: undefined })",
                "({ h: 'x', n: 1.5, u: undefined })",
                "({ h: { a: o.h.a, b: t }, n: 1.5, u: null })",
                "({ h: { a: o.h.a, b: t }, get n() { throw 1 }, u: undefined })",
                "new Proxy(o, {})",
                "null",
                "5",
            ] {
                assert!(!known.is(&value(other)), "{other}");
            }
            ctx.eval::<(), _>("o.h.b = ['to', 'ken'].join('')").unwrap();
            assert!(known.is(&value("o")), "another text of the same letters says the same");
            ctx.eval::<(), _>("o.h.b = 'tokeN'").unwrap();
            assert!(!known.is(&value("o")));
            for more in [
                "({ a: [] })",
                "({ a: () => 1 })",
                "({ a: 1n })",
                "({ get a() { throw 1 } })",
                "new Date()",
                "({ a: { b: { c: { d: {} } } } })",
            ] {
                assert!(PlainData::of(&value(more)).is_none(), "{more}");
            }
            assert!(PlainData::of(&value("7")).unwrap().is(&value("7")));
        });
        runtime.run_gc();
    }

    #[test]
    fn names_arekept_up_to_a_bound() {
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
