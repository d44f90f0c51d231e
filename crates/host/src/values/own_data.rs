//! Looks at the plain data of a script where it lies (`quickjs/own_data.patch`): no list of names, no counts, and no
//! code of the script runs.
//!
//! What is found is borrowed: it stays as long as nothing changes the object, so nothing that runs script may be called
//! before it was used.

use rquickjs::qjs;

unsafe extern "C" {
    fn JS_NextOwnData(
        context: *mut qjs::JSContext,
        object: qjs::JSValue,
        at: qjs::c_int,
        name: *mut qjs::JSAtom,
        value: *mut qjs::JSValue,
    ) -> qjs::c_int;
    fn JS_LacksProperty(object: qjs::JSValue, name: qjs::JSAtom) -> bool;
    fn JS_GetArrayData(object: qjs::JSValue, items: *mut *mut qjs::JSValue, count: *mut u32) -> bool;
}

/// A property with a value: no accessor, enumerable, and its name is a string.
#[derive(Clone, Copy)]
pub(crate) struct OwnData {
    pub(crate) name: qjs::JSAtom,
    pub(crate) value: qjs::JSValue,
}

impl OwnData {
    /// The number that its name is. Such properties come first and in order, wherever they stand in the object.
    pub(crate) fn index(self) -> Option<u32> {
        const TAGGED: u32 = 1 << 31;
        (self.name & TAGGED != 0).then_some(self.name & !TAGGED)
    }
}

/// The own properties of an object, in the order in which they were made. `None` in place of one: the object is no
/// plain data, and the engine has to be asked about it.
pub(crate) struct OwnProperties {
    context: *mut qjs::JSContext,
    object: qjs::JSValue,
    /// As `JS_NextOwnData` returned it; negative when the end was told.
    at: qjs::c_int,
}

impl OwnProperties {
    /// # Safety
    /// A live context and a live object, for as long as this is used.
    pub(crate) unsafe fn of(context: *mut qjs::JSContext, object: qjs::JSValue) -> OwnProperties {
        OwnProperties { context, object, at: 0 }
    }
}

impl Iterator for OwnProperties {
    type Item = Option<OwnData>;

    fn next(&mut self) -> Option<Option<OwnData>> {
        if self.at < 0 {
            return None;
        }
        let mut found = OwnData { name: 0, value: qjs::JS_UNDEFINED };
        // SAFETY: context and object are live by the contract of `of`; both places are written only.
        self.at = unsafe { JS_NextOwnData(self.context, self.object, self.at, &mut found.name, &mut found.value) };
        match self.at {
            0 => {
                self.at = -1;
                None
            }
            told => Some((told > 0).then_some(found)),
        }
    }
}

/// Whether neither an object nor its prototypes have a property, as far as can be told without the script's code.
///
/// # Safety
/// A live object and a live name that is no number.
pub(crate) unsafe fn lacks(object: qjs::JSValue, name: qjs::JSAtom) -> bool {
    // SAFETY: by the contract of this function.
    unsafe { JS_LacksProperty(object, name) }
}

/// The items of an array without gaps.
///
/// # Safety
/// A live object, which is not changed as long as the items are looked at.
pub(crate) unsafe fn items<'a>(object: qjs::JSValue) -> Option<&'a [qjs::JSValue]> {
    let (mut items, mut count) = (std::ptr::null_mut(), 0);
    // SAFETY: a live object; both places are written only.
    if !unsafe { JS_GetArrayData(object, &mut items, &mut count) } {
        return None;
    }
    if count == 0 {
        return Some(&[]);
    }
    // SAFETY: the engine has `count` values there until the array is changed.
    Some(unsafe { std::slice::from_raw_parts(items, count as usize) })
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Ctx, Runtime, Value};

    use super::*;

    /// Names and whole numbers of an object; `None` where it is no plain data.
    fn listed(ctx: &Ctx<'_>, text: &str) -> Option<Vec<(Option<u32>, i32)>> {
        let object: Value<'_> = ctx.eval(text).unwrap();
        // SAFETY: context and object are live, and nothing runs meanwhile.
        unsafe {
            OwnProperties::of(ctx.as_raw().as_ptr(), object.as_raw())
                .map(|found| found.map(|found| (found.index(), qjs::JS_VALUE_GET_INT(found.value))))
                .collect()
        }
    }

    #[test]
    fn plain_data_is_listed_as_it_was_made() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            assert_eq!(listed(&ctx, "({ b: 1, a: 2, '': 3 })"), Some(vec![(None, 1), (None, 2), (None, 3)]));
            assert_eq!(listed(&ctx, "({ b: 1, 7: 2 })"), Some(vec![(None, 1), (Some(7), 2)]));
            assert_eq!(listed(&ctx, "({})"), Some(vec![]));
            let changed = "const o = { a: 1, b: 2, c: 3, [Symbol('s')]: 4 }; delete o.b; \
                           Object.defineProperty(o, 'hidden', { value: 5, enumerable: false }); o.d = 6; o";
            assert_eq!(listed(&ctx, changed), Some(vec![(None, 1), (None, 3), (None, 6)]));
            assert_eq!(listed(&ctx, "new (class A { x = 1 })"), Some(vec![(None, 1)]));
        });
    }

    #[test]
    fn what_is_no_plain_data_is_told() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            for text in [
                "({ get a() { throw 1 } })",
                "({ '4000000000': 1 })",
                "new Proxy({}, {})",
                "[1]",
                "() => 1",
                "new Map()",
            ] {
                assert_eq!(listed(&ctx, text), None, "{text}");
            }
        });
    }

    #[test]
    fn missing_hooks_and_arrays_without_gaps() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            let value = |text: &str| ctx.eval::<Value<'_>, _>(text).unwrap();
            // SAFETY: a live context; objects are live while they are asked, and the name is given back at the end.
            unsafe {
                let name = qjs::JS_NewAtomLen(ctx.as_raw().as_ptr(), c"toJSON".as_ptr(), 6);
                for text in ["({})", "[]", "Object.create(null)", "new (class A {})"] {
                    assert!(lacks(value(text).as_raw(), name), "{text}");
                }
                for text in ["({ toJSON: undefined })", "new Date()", "Object.create(new Proxy({}, {}))"] {
                    assert!(!lacks(value(text).as_raw(), name), "{text}");
                }
                value("Array.prototype.toJSON = () => 1");
                assert!(!lacks(value("[]").as_raw(), name) && lacks(value("({})").as_raw(), name));
                qjs::JS_FreeAtom(ctx.as_raw().as_ptr(), name);
                let count = |text: &str| items(value(text).as_raw()).map(<[_]>::len);
                assert_eq!((count("[]"), count("[1, , 3].map((n) => n)"), count("[1, 2]")), (Some(0), None, Some(2)));
                assert_eq!((count("const a = [1]; a.length = 5; a"), count("({ length: 1 })")), (None, None));
            }
        });
    }
}
