//! Questions about objects, and changes to them, that the engine answers in C and the safe bindings do not offer.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::ptr::NonNull;

use rquickjs::{Ctx, Error, Object, Result, Value, object::Filter, qjs};
use rustc_hash::FxHashMap;

use crate::values::bytes;
use crate::values::own_data::OwnProperties;

/// The first class of the engine (`JS_CLASS_OBJECT`), which its header does not export.
pub(crate) const PLAIN_CLASS: qjs::JSClassID = 1;

/// The name of a property while its object is being walked through.
pub struct Name<'a, 'js> {
    ctx: &'a Ctx<'js>,
    atom: qjs::JSAtom,
}

impl<'js> Name<'_, 'js> {
    /// As text.
    pub fn text(&self) -> Result<String> {
        // SAFETY: the context is live, and the atom is as long as the list that it is from.
        let text = unsafe {
            let raw = qjs::JS_AtomToString(self.ctx.as_raw().as_ptr(), self.atom);
            if qjs::JS_IsException(raw) {
                return Err(Error::Exception);
            }
            Value::from_raw(self.ctx.clone(), raw)
        };
        Ok(bytes::text(&text)?.unwrap_or_default())
    }

    pub(crate) fn atom(&self) -> qjs::JSAtom {
        self.atom
    }

    pub(crate) fn ctx(&self) -> &Ctx<'js> {
        self.ctx
    }
}

/// Hands the own enumerable properties of an object to `each`, in order, those with symbols for names left out. The
/// names are those at the beginning; a value is read when its turn comes. Costs no object of ours for each of them.
pub fn each_entry<'js>(
    ctx: &Ctx<'js>,
    object: &Object<'js>,
    mut each: impl FnMut(Name<'_, 'js>, Value<'js>) -> Result<()>,
) -> Result<()> {
    let (table, context) = (Table::of(ctx, object)?, ctx.as_raw().as_ptr());
    for atom in table.names() {
        // SAFETY: the table holds its names; getting a property gives a count of its own.
        let value = unsafe {
            let raw = qjs::JS_GetProperty(context, object.as_raw(), atom);
            if qjs::JS_IsException(raw) {
                return Err(Error::Exception);
            }
            Value::from_raw(ctx.clone(), raw)
        };
        each(Name { ctx, atom }, value)?;
    }
    Ok(())
}

/// Names of properties, to be given back.
struct Table<'a, 'js> {
    ctx: &'a Ctx<'js>,
    names: Names,
}

/// Where they are kept.
enum Names {
    /// Of plain data, at most as many as there is room for, counted one by one.
    Few([qjs::JSAtom; 8], usize),
    /// As the engine lists them.
    Listed(*mut qjs::JSPropertyEnum, u32),
}

impl<'a, 'js> Table<'a, 'js> {
    /// Those of an object's own enumerable properties, symbols left out.
    fn of(ctx: &'a Ctx<'js>, object: &Object<'js>) -> Result<Table<'a, 'js>> {
        let context = ctx.as_raw().as_ptr();
        // SAFETY: context and object are live, and nothing runs meanwhile.
        let own = unsafe { OwnProperties::of(context, object.as_raw()) };
        let (mut names, mut count) = ([0; 8], 0);
        let fits = own.into_iter().all(|found| match (found, names.get_mut(count)) {
            (Some(found), Some(place)) if found.index().is_none() => {
                *place = found.name;
                count += 1;
                true
            }
            _ => false,
        });
        if fits {
            for name in &names[..count] {
                // SAFETY: a live name; `drop` gives back what is counted here.
                unsafe { qjs::JS_DupAtom(context, *name) };
            }
            return Ok(Table { ctx, names: Names::Few(names, count) });
        }
        Table::listed(ctx, object, (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as i32)
    }

    /// Those that the engine lists.
    fn listed(ctx: &'a Ctx<'js>, object: &Object<'js>, flags: i32) -> Result<Table<'a, 'js>> {
        let (mut table, mut length) = (std::ptr::null_mut(), 0);
        let context = ctx.as_raw().as_ptr();
        // SAFETY: context and object are live; the table is given back by `drop`.
        if unsafe { qjs::JS_GetOwnPropertyNames(context, &mut table, &mut length, object.as_raw(), flags) } < 0 {
            return Err(Error::Exception);
        }
        Ok(Table { ctx, names: Names::Listed(table, length) })
    }

    fn names(&self) -> impl Iterator<Item = qjs::JSAtom> + '_ {
        let (few, listed) = match &self.names {
            Names::Few(names, count) => (&names[..*count], None),
            Names::Listed(table, length) => (&[][..], Some((*table, *length))),
        };
        let listed = listed.into_iter().flat_map(|(table, length)| {
            // SAFETY: the engine filled `length` entries, which stay until `drop`.
            (0..length as usize).map(move |index| unsafe { (*table.add(index)).atom })
        });
        few.iter().copied().chain(listed)
    }
}

impl Drop for Table<'_, '_> {
    fn drop(&mut self) {
        let context = self.ctx.as_raw().as_ptr();
        match &self.names {
            Names::Few(names, count) => names[..*count].iter().for_each(|name| {
                // SAFETY: each was counted once in `of`.
                unsafe { qjs::JS_FreeAtom(context, *name) }
            }),
            // SAFETY: what `JS_GetOwnPropertyNames` made is given back once.
            Names::Listed(table, length) => unsafe { qjs::JS_FreePropertyEnum(context, *table, *length) },
        }
    }
}

/// Numbers of names, found again without making texts of them. For a fixed set of names: what it has learned it keeps.
/// Part of a user's state, which goes before the user's runtime.
#[derive(Default)]
pub struct KnownNames {
    known: RefCell<FxHashMap<qjs::JSAtom, u32>>,
    runtime: Cell<Option<NonNull<qjs::JSRuntime>>>,
}

impl KnownNames {
    /// The number of a name; of one that is new, `look` says it.
    pub fn find(&self, name: &Name<'_, '_>, look: impl FnOnce(&str) -> Option<u32>) -> Result<Option<u32>> {
        if let Some(number) = self.known.borrow().get(&name.atom) {
            return Ok(Some(*number));
        }
        let Some(number) = look(&name.text()?) else { return Ok(None) };
        let context = name.ctx.as_raw().as_ptr();
        // SAFETY: a live context and atom; the count that is made here is given back by `drop`.
        let (held, runtime) = unsafe { (qjs::JS_DupAtom(context, name.atom), qjs::JS_GetRuntime(context)) };
        self.runtime.set(NonNull::new(runtime));
        self.known.borrow_mut().insert(held, number);
        Ok(Some(number))
    }
}

impl Drop for KnownNames {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.get() else { return };
        for atom in self.known.get_mut().keys() {
            // SAFETY: each was duplicated in `find`, and a user's state goes before its runtime.
            unsafe { qjs::JS_FreeAtomRT(runtime.as_ptr(), *atom) };
        }
    }
}

/// The value as an object, if it is one of any kind. Value::as_object finds out which kind first, by calling the engine
/// six times.
pub fn of<'a, 'js>(value: &'a Value<'js>) -> Option<&'a Object<'js>> {
    // SAFETY: the tag says that it is an object.
    unsafe { qjs::JS_IsObject(value.as_raw()).then(|| value.ref_object()) }
}

/// Whether it is an object of a literal or of a class of the script that extends none of the engine's.
pub fn is_plain(value: &Value<'_>) -> bool {
    // SAFETY: looks at the class of an object only; other values have none.
    of(value).is_some_and(|object| unsafe { qjs::JS_GetClassID(object.as_raw()) == PLAIN_CLASS })
}

/// Whether it is a Set.
pub fn is_set(value: &Value<'_>) -> bool {
    // SAFETY: looks at the class of an object only.
    of(value).is_some_and(|object| unsafe { qjs::JS_IsSet(object.as_raw()) })
}

/// Tells an object from others that live at the same time.
pub fn address(object: &Object<'_>) -> usize {
    // SAFETY: the address alone is used.
    unsafe { qjs::JS_VALUE_GET_PTR(object.as_raw()) as usize }
}

/// Calls a function with one argument and no `this`.
pub fn call<'js>(ctx: &Ctx<'js>, function: &Value<'js>, argument: &Value<'js>) -> Result<Value<'js>> {
    // SAFETY: the result is a count of its own.
    call_raw(ctx, function, [argument]).map(|raw| unsafe { Value::from_raw(ctx.clone(), raw) })
}

/// The same for a caller that wants nothing of what it returns.
#[inline]
pub fn run<'js>(ctx: &Ctx<'js>, function: &Value<'js>, argument: &Value<'js>) -> Result<()> {
    // SAFETY: gives back the count that the call made.
    call_raw(ctx, function, [argument]).map(|raw| unsafe { qjs::JS_FreeValue(ctx.as_raw().as_ptr(), raw) })
}

/// The same as `call` with three arguments.
pub fn call_three<'js>(ctx: &Ctx<'js>, function: &Value<'js>, arguments: [&Value<'js>; 3]) -> Result<Value<'js>> {
    // SAFETY: as in `call`.
    call_raw(ctx, function, arguments).map(|raw| unsafe { Value::from_raw(ctx.clone(), raw) })
}

/// What a function returns: a count that the caller owns.
#[inline]
fn call_raw<'js, const N: usize>(
    ctx: &Ctx<'js>,
    function: &Value<'js>,
    arguments: [&Value<'js>; N],
) -> Result<qjs::JSValue> {
    let mut arguments = arguments.map(Value::as_raw);
    // SAFETY: the values are live and stay so during the call.
    unsafe {
        let (context, count) = (ctx.as_raw().as_ptr(), N as qjs::c_int);
        let raw = qjs::JS_Call(context, function.as_raw(), qjs::JS_UNDEFINED, count, arguments.as_mut_ptr());
        if qjs::JS_IsException(raw) { Err(Error::Exception) } else { Ok(raw) }
    }
}

/// Whether it is an object as a literal makes it: of no other class, and with the prototype of literals.
pub fn is_literal(value: &Value<'_>) -> bool {
    if !value.is_object() {
        return false;
    }
    // SAFETY: context and value are live; both prototypes are counts of their own, given back here. Of a proxy the
    // first one is not asked for: it has another class.
    unsafe {
        let context = value.ctx().as_raw().as_ptr();
        if qjs::JS_GetClassID(value.as_raw()) != PLAIN_CLASS {
            return false;
        }
        let (own, standard) =
            (qjs::JS_GetPrototype(context, value.as_raw()), qjs::JS_GetClassProto(context, PLAIN_CLASS));
        let is_same = qjs::JS_VALUE_GET_TAG(own) == qjs::JS_TAG_OBJECT
            && qjs::JS_VALUE_GET_PTR(own) == qjs::JS_VALUE_GET_PTR(standard);
        qjs::JS_FreeValue(context, own);
        qjs::JS_FreeValue(context, standard);
        is_same
    }
}

/// Calls a function as a method, with two arguments.
pub fn call_method<'js>(
    ctx: &Ctx<'js>,
    function: &Value<'js>,
    this: &Value<'js>,
    arguments: [&Value<'js>; 2],
) -> Result<Value<'js>> {
    // SAFETY: as in `call`.
    unsafe {
        let mut arguments = arguments.map(Value::as_raw);
        let context = ctx.as_raw().as_ptr();
        let raw = qjs::JS_Call(context, function.as_raw(), this.as_raw(), 2, arguments.as_mut_ptr());
        if qjs::JS_IsException(raw) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), raw))
    }
}

/// What a condition makes of the value (`Boolean(value)`).
pub fn is_true(value: &Value<'_>) -> bool {
    // SAFETY: the value is live; converting to a boolean runs no script and cannot fail.
    unsafe { qjs::JS_ToBool(value.ctx().as_raw().as_ptr(), value.as_raw()) > 0 }
}

/// Gives a fresh object a property as a literal would, without looking for setters among its prototypes.
pub fn define<'js>(object: &Object<'js>, name: &CStr, value: Value<'js>) -> Result<()> {
    let (ctx, flags) = (object.ctx().as_raw().as_ptr(), qjs::JS_PROP_C_W_E as i32);
    // SAFETY: context, object and value are live; the call takes over the count that is made here.
    let result = unsafe {
        let value = qjs::JS_DupValue(ctx, value.as_raw());
        qjs::JS_DefinePropertyValueStr(ctx, object.as_raw(), name.as_ptr(), value, flags)
    };
    if result < 0 { Err(Error::Exception) } else { Ok(()) }
}

/// Whether it is a function that was declared `async`.
pub fn is_async(function: &Value<'_>) -> bool {
    // SAFETY: looks at the class of the object only.
    unsafe { qjs::JS_IsAsyncFunction(function.as_raw()) }
}

/// Freezes a tree of plain objects and arrays (what `JSON.parse` makes): no cycles, no accessors.
pub fn freeze_tree<'js>(ctx: &Ctx<'js>, root: &Value<'js>) -> Result<()> {
    // A list instead of recursion: the text may nest deeper than a virtual user's stack.
    let mut pending: Vec<Object<'js>> = root.as_object().cloned().into_iter().collect();
    while let Some(object) = pending.pop() {
        for child in object.own_values::<Value<'js>>(Filter::new().string().enum_only()) {
            pending.extend(child?.into_object());
        }
        freeze(ctx, &object)?;
    }
    Ok(())
}

/// `Object.freeze(object)`.
pub fn freeze<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<()> {
    // SAFETY: context and object are alive; a negative result leaves the exception pending, which `Error::Exception`
    // stands for.
    match unsafe { qjs::JS_FreezeObject(ctx.as_raw().as_ptr(), object.as_raw()) } {
        result if result < 0 => Err(Error::Exception),
        _ => Ok(()),
    }
}

/// Whether an object has a property of its own whose value is made by a function.
pub fn has_getter(object: &Object<'_>, name: &str) -> bool {
    let context = object.ctx().as_raw().as_ptr();
    // SAFETY: context and object are alive; the atom is given back, and of what the descriptor brings each count.
    unsafe {
        let atom = qjs::JS_NewAtomLen(context, name.as_ptr().cast(), name.len() as _);
        let mut found: qjs::JSPropertyDescriptor = std::mem::zeroed();
        let is_there = qjs::JS_GetOwnProperty(context, &mut found, object.as_raw(), atom) > 0;
        qjs::JS_FreeAtom(context, atom);
        if !is_there {
            return false;
        }
        let has_getter = found.flags as u32 & qjs::JS_PROP_GETSET != 0;
        if has_getter {
            qjs::JS_FreeValue(context, found.getter);
            qjs::JS_FreeValue(context, found.setter);
        } else {
            qjs::JS_FreeValue(context, found.value);
        }
        has_getter
    }
}

/// Makes the accessors that one object shows properties of another, too, for good. Leaves nothing behind, as
/// descriptors would.
pub fn share_accessors<'js>(from: &Object<'js>, to: &Object<'js>) -> Result<()> {
    let ctx = from.ctx();
    let table = Table::of(ctx, from)?;
    for atom in table.names() {
        // SAFETY: the table holds its names; both objects are alive. Of what a descriptor brings each count is
        // given back once: a value that is no accessor's, or getter and setter.
        let defined = unsafe {
            let context = ctx.as_raw().as_ptr();
            let mut found: qjs::JSPropertyDescriptor = std::mem::zeroed();
            match qjs::JS_GetOwnProperty(context, &mut found, from.as_raw(), atom) {
                1 if found.flags as u32 & qjs::JS_PROP_GETSET != 0 => {
                    let given = qjs::JS_PROP_HAS_GET | qjs::JS_PROP_HAS_SET | qjs::JS_PROP_HAS_ENUMERABLE;
                    let flags = given | qjs::JS_PROP_ENUMERABLE | qjs::JS_PROP_HAS_CONFIGURABLE;
                    let (none, getter, setter) = (qjs::JS_UNDEFINED, found.getter, found.setter);
                    let done = qjs::JS_DefineProperty(context, to.as_raw(), atom, none, getter, setter, flags as _);
                    qjs::JS_FreeValue(context, getter);
                    qjs::JS_FreeValue(context, setter);
                    done
                }
                1 => {
                    qjs::JS_FreeValue(context, found.value);
                    0
                }
                failed_or_gone => failed_or_gone,
            }
        };
        if defined < 0 {
            return Err(Error::Exception);
        }
    }
    Ok(())
}
