//! `JSON.stringify` for plain data, several times as fast as the engine's own: keys and values go straight into one
//! buffer, where the engine makes a JavaScript string of each key, number and piece.
//!
//! It writes what the engine would write, or steps aside: a replacer, indentation, `toJSON`, getters, boxed primitives,
//! other classes than plain objects and arrays, arrays with gaps, BigInt, lone surrogates, cycles and deep nesting are
//! left to the engine, which starts over. So no code of the script runs here, and every error and every odd case is the
//! engine's own.

use std::cell::RefCell;
use std::ptr::NonNull;

use rquickjs::atom::PredefinedAtom;
use rquickjs::function::This;
use rquickjs::{Ctx, Error, Function, Object, Persistent, Result, Value, qjs};
use rustc_hash::FxHashMap;

use crate::user::User;
use crate::values::building::Building;
use crate::values::bytes;
use crate::values::own_data::{self, OwnData, OwnProperties};
use crate::values::plain::{self, Args, Plain};

/// Deeper data is left to the engine, whose stack check knows how far it may go.
const DEEPEST: usize = 200;

/// Class numbers of QuickJS-ng that stand for plain data.
const PLAIN_OBJECT: qjs::JSClassID = 1;
const PLAIN_ARRAY: qjs::JSClassID = 2;

/// Keys that a user's calls remember. Data with keys that are made up gains nothing from it and loses little.
const MOST_KEYS: usize = 64;

/// What is kept per user.
#[derive(Default)]
struct Engine {
    /// The engine's own function.
    own: RefCell<Option<Persistent<Function<'static>>>>,
    /// Of the last call.
    keys: RefCell<Option<Keys>>,
}

/// Names of properties as JSON has them; what is held here keeps its number.
struct Keys {
    runtime: *mut qjs::JSRuntime,
    to_json: qjs::JSAtom,
    /// Quoted, with their colon.
    quoted: FxHashMap<qjs::JSAtom, Box<[u8]>>,
}

impl Keys {
    fn new(raw: *mut qjs::JSContext) -> Result<Keys> {
        // SAFETY: a live context and a text of the given length; the atom is freed in `drop`.
        let to_json = unsafe { qjs::JS_NewAtomLen(raw, c"toJSON".as_ptr(), 6) };
        if to_json == 0 {
            return Err(Error::Exception);
        }
        // SAFETY: a live context.
        Ok(Keys { runtime: unsafe { qjs::JS_GetRuntime(raw) }, to_json, quoted: FxHashMap::default() })
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let atoms = self.quoted.keys().copied().chain([self.to_json]);
        // SAFETY: each was made or duplicated here, and a user's state goes before its runtime.
        atoms.for_each(|atom| unsafe { qjs::JS_FreeAtomRT(self.runtime, atom) });
    }
}

/// Puts the fast function in place of the engine's.
pub fn install(ctx: &Ctx<'_>) -> Result<()> {
    let json: Object<'_> = ctx.globals().get(PredefinedAtom::JSON)?;
    let own: Function<'_> = json.get("stringify")?;
    *User::of(ctx).local::<Engine>().own.borrow_mut() = Some(Persistent::save(ctx, own));
    let fast = plain::function::<Stringify>(ctx, c"stringify", 0)?.with_length(3)?;
    json.prop("stringify", rquickjs::object::Property::from(fast).writable().configurable())
}

/// `JSON.stringify(value, replacer, space)`.
struct Stringify;

impl Plain for Stringify {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _number: i32) -> Result<Value<'js>> {
        let [value, replacer, space] = [0, 1, 2].map(|index| args.get(index));
        let absent =
            |given: &Option<Value<'js>>| given.as_ref().is_none_or(|value| value.is_undefined() || value.is_null());
        if let Some(value) = value.as_ref().filter(|_| absent(&replacer) && absent(&space))
            && let Some(text) = plain_text(ctx, b"", value)?
        {
            return Ok(text);
        }
        let engine = User::of(ctx).local::<Engine>();
        let own = engine.own.borrow().clone().expect("saved by install").restore(ctx)?;
        let undefined = || Value::new_undefined(ctx.clone());
        let this: Value<'js> = ctx.globals().get(PredefinedAtom::JSON)?;
        let [value, replacer, space] = [value, replacer, space].map(|argument| argument.unwrap_or_else(undefined));
        own.call((This(this), value, replacer, space))
    }
}

/// `prefix`, and behind it what `JSON.stringify(value)` gives; `undefined` where that is. `None`: the value is more
/// than plain data, and the engine has to do it. Throws when memory is short.
pub fn plain_text<'js>(ctx: &Ctx<'js>, prefix: &[u8], value: &Value<'js>) -> Result<Option<Value<'js>>> {
    written(ctx, prefix, |writer| writer.write(value))
}

/// The same for the first `count` of the arguments as a list, in bytes. In place of an ArrayBuffer or a view of one,
/// which JSON cannot hold, `placeholder` writes something, given its number; they are returned in this order.
pub fn plain_list<'js>(
    ctx: &Ctx<'js>,
    prefix: &[u8],
    (items, count): (&Args<'_, 'js>, usize),
    placeholder: fn(&mut Vec<u8>, usize),
) -> Result<Option<(Vec<u8>, Vec<Value<'js>>)>> {
    written(ctx, prefix, |writer| {
        writer.placeholder = Some(placeholder);
        writer.out.push(b'[');
        for index in 0..count {
            if index > 0 {
                writer.out.push(b',');
            }
            if !writer.value(items.peek_or_undefined(index).as_raw())? {
                writer.out.extend_from_slice(b"null");
            }
        }
        writer.out.push(b']');
        Ok((std::mem::take(&mut writer.out), std::mem::take(&mut writer.buffers)))
    })
}

/// What `write` makes with the user's writer, which has `prefix` in it.
fn written<'js, R>(
    ctx: &Ctx<'js>,
    prefix: &[u8],
    write: impl FnOnce(&mut Writer<'_, 'js>) -> std::result::Result<R, Detour>,
) -> Result<Option<R>> {
    let engine = User::of(ctx).local::<Engine>();
    let known = engine.keys.borrow_mut().take();
    let mut writer = Writer::new(ctx, known)?;
    writer.out.extend_from_slice(prefix);
    let result = write(&mut writer);
    if writer.keys.quoted.len() <= MOST_KEYS {
        *engine.keys.borrow_mut() = Some(writer.keys);
    }
    match result {
        Ok(result) => Ok(Some(result)),
        Err(Detour::Threw) => Err(Error::Exception),
        Err(Detour::NotPlain) => Ok(None),
    }
}

/// Why the fast way ended.
enum Detour {
    /// Memory is short; the exception is pending.
    Threw,
    /// The engine has to do it.
    NotPlain,
}

struct Writer<'a, 'js> {
    ctx: &'a Ctx<'js>,
    raw: *mut qjs::JSContext,
    out: Vec<u8>,
    memory: Building,
    keys: Keys,
    /// The objects around the current value.
    path: Vec<NonNull<std::ffi::c_void>>,
    /// Writes what stands for a buffer, given how many came before it. Without it the engine is asked.
    placeholder: Option<fn(&mut Vec<u8>, usize)>,
    buffers: Vec<Value<'js>>,
}

impl<'a, 'js> Writer<'a, 'js> {
    fn new(ctx: &'a Ctx<'js>, known: Option<Keys>) -> Result<Self> {
        let raw = ctx.as_raw().as_ptr();
        let keys = match known {
            Some(keys) => keys,
            None => Keys::new(raw)?,
        };
        let (out, memory) = (Vec::with_capacity(256), Building::default());
        Ok(Writer { ctx, raw, out, memory, keys, path: Vec::new(), placeholder: None, buffers: Vec::new() })
    }

    fn write(&mut self, value: &Value<'js>) -> std::result::Result<Value<'js>, Detour> {
        if !self.value(value.as_raw())? {
            return Ok(Value::new_undefined(self.ctx.clone()));
        }
        // SAFETY: the buffer is valid UTF-8 of that length; QuickJS copies it.
        let text = unsafe { qjs::JS_NewStringLen(self.raw, self.out.as_ptr().cast(), self.out.len() as _) };
        // SAFETY: an owned value of this context.
        unsafe { self.owned(text) }
    }

    /// Takes ownership of a value that a call returned.
    ///
    /// # Safety
    /// `value` is owned by the caller and belongs to this context.
    unsafe fn owned(&self, value: qjs::JSValue) -> std::result::Result<Value<'js>, Detour> {
        // SAFETY: by the contract of this function.
        let exception = unsafe { qjs::JS_IsException(value) };
        // SAFETY: as above; dropping the `Value` frees it.
        if exception { Err(Detour::Threw) } else { Ok(unsafe { Value::from_raw(self.ctx.clone(), value) }) }
    }

    /// Writes a value; false when JSON leaves it out (undefined, functions, symbols). `value` is borrowed.
    fn value(&mut self, value: qjs::JSValue) -> std::result::Result<bool, Detour> {
        // SAFETY: reading the tag, and the payload that goes with it, of a live value.
        unsafe {
            match qjs::JS_VALUE_GET_NORM_TAG(value) {
                qjs::JS_TAG_INT => write_int(&mut self.out, qjs::JS_VALUE_GET_INT(value)),
                qjs::JS_TAG_BOOL => {
                    self.out.extend_from_slice(if qjs::JS_VALUE_GET_BOOL(value) { b"true" } else { b"false" });
                }
                qjs::JS_TAG_NULL => self.out.extend_from_slice(b"null"),
                qjs::JS_TAG_FLOAT64 => {
                    let finite = qjs::JS_VALUE_GET_FLOAT64(value).is_finite();
                    if finite { self.text(value, false)? } else { self.out.extend_from_slice(b"null") }
                }
                qjs::JS_TAG_UNDEFINED | qjs::JS_TAG_SYMBOL => return Ok(false),
                qjs::JS_TAG_STRING => self.text(value, true)?,
                qjs::JS_TAG_OBJECT => return self.object(value),
                // Strings joined lazily have a tag of their own.
                _ if qjs::JS_IsString(value) => self.text(value, true)?,
                _ => return Err(Detour::NotPlain),
            }
        }
        Ok(true)
    }

    /// Writes a string in quotes, or a number as JavaScript prints it.
    fn text(&mut self, value: qjs::JSValue, quotes: bool) -> std::result::Result<(), Detour> {
        let mut len = 0;
        // SAFETY: a live value; the text is freed below and not kept.
        let start = unsafe { qjs::JS_ToCStringLen2(self.raw, &mut len, value, false) };
        if start.is_null() {
            return Err(Detour::Threw);
        }
        // SAFETY: QuickJS returned `len` bytes at `start`.
        let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len as usize) };
        let well_formed = !quotes || quote(&mut self.out, bytes);
        if !quotes {
            self.out.extend_from_slice(bytes);
        }
        // SAFETY: `start` came from JS_ToCStringLen2.
        unsafe { qjs::JS_FreeCString(self.raw, start) };
        if well_formed { Ok(()) } else { Err(Detour::NotPlain) }
    }

    fn object(&mut self, object: qjs::JSValue) -> std::result::Result<bool, Detour> {
        // SAFETY: a live object.
        let (class, address) = unsafe { (qjs::JS_GetClassID(object), qjs::JS_VALUE_GET_PTR(object)) };
        if class != PLAIN_OBJECT && class != PLAIN_ARRAY {
            return self.other(object);
        }
        let address = NonNull::new(address).ok_or(Detour::NotPlain)?;
        // SAFETY: a live object and name.
        let is_hooked = unsafe { !own_data::lacks(object, self.keys.to_json) };
        if is_hooked || self.path.len() >= DEEPEST || self.path.contains(&address) {
            return Err(Detour::NotPlain);
        }
        self.path.push(address);
        if class == PLAIN_ARRAY {
            self.items(object)?
        } else {
            self.properties(object)?
        }
        self.path.pop();
        Ok(true)
    }

    /// An object of another class: JSON leaves out functions, and buffers may have something in their place.
    fn other(&mut self, object: qjs::JSValue) -> std::result::Result<bool, Detour> {
        // SAFETY: a live object of this context.
        if unsafe { qjs::JS_IsFunction(self.raw, object) } {
            return Ok(false);
        }
        if let Some(placeholder) = self.placeholder {
            // SAFETY: a live object, which gets a count of its own.
            let value = unsafe { Value::from_raw(self.ctx.clone(), qjs::JS_DupValue(self.raw, object)) };
            if bytes::is_buffer(&value) {
                placeholder(&mut self.out, self.buffers.len());
                self.buffers.push(value);
                return Ok(true);
            }
        }
        Err(Detour::NotPlain)
    }

    fn items(&mut self, array: qjs::JSValue) -> std::result::Result<(), Detour> {
        // SAFETY: a live array, and what is done with its items runs no script.
        let items = unsafe { own_data::items(array) }.ok_or(Detour::NotPlain)?;
        self.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.memory.grew_to(self.ctx, self.out.capacity()).map_err(|_| Detour::Threw)?;
            if !self.value(*item)? {
                self.out.extend_from_slice(b"null");
            }
        }
        self.out.push(b']');
        Ok(())
    }

    fn properties(&mut self, object: qjs::JSValue) -> std::result::Result<(), Detour> {
        // SAFETY: a live object, and what is done with its properties runs no script.
        let all = || unsafe { OwnProperties::of(self.raw, object) };
        let mut first = true;
        self.out.push(b'{');
        if all().flatten().any(|found| found.index().is_some()) {
            let mut all: Vec<OwnData> = all().collect::<Option<_>>().ok_or(Detour::NotPlain)?;
            // Numbers come first; the others stay in the order in which they were made.
            all.sort_by_key(|found| found.index().map_or(u64::MAX, u64::from));
            for found in all {
                self.property(found, &mut first)?;
            }
        } else {
            for found in all() {
                self.property(found.ok_or(Detour::NotPlain)?, &mut first)?;
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    fn property(&mut self, found: OwnData, first: &mut bool) -> std::result::Result<(), Detour> {
        let before = self.out.len();
        self.memory.grew_to(self.ctx, self.out.capacity()).map_err(|_| Detour::Threw)?;
        if !*first {
            self.out.push(b',');
        }
        self.key(found.name)?;
        if self.value(found.value)? {
            *first = false
        } else {
            self.out.truncate(before)
        }
        Ok(())
    }

    fn key(&mut self, atom: qjs::JSAtom) -> std::result::Result<(), Detour> {
        if let Some(quoted) = self.keys.quoted.get(&atom) {
            self.out.extend_from_slice(quoted);
            return Ok(());
        }
        let before = self.out.len();
        // SAFETY: a live atom; the text is a value that `text` reads at once.
        let name = unsafe { self.owned(qjs::JS_AtomToString(self.raw, atom))? };
        self.text(name.as_raw(), true)?;
        self.out.push(b':');
        // Reservation until the end: the number of a freed atom is given to another name.
        // SAFETY: a live atom; freed in `drop`.
        let held = unsafe { qjs::JS_DupAtom(self.raw, atom) };
        self.keys.quoted.insert(held, self.out[before..].into());
        Ok(())
    }
}

fn write_int(out: &mut Vec<u8>, number: i32) {
    let mut digits = [0_u8; 11];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Writes UTF-8 as a JSON string; false when it holds a lone surrogate (three bytes from ED A0).
fn quote(out: &mut Vec<u8>, bytes: &[u8]) -> bool {
    out.push(b'"');
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            if byte == 0xED && bytes.get(at + 1).is_some_and(|next| *next >= 0xA0) {
                return false;
            }
            continue;
        }
        out.extend_from_slice(&bytes[start..at]);
        start = at + 1;
        escape(out, byte);
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
    true
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0C => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact() {
        for number in [0, 7, -1, 1_000_000, i32::MAX, i32::MIN] {
            let mut out = Vec::new();
            write_int(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }

    #[test]
    fn strings_are_quoted_as_json_wants() {
        let mut out = Vec::new();
        assert!(quote(&mut out, "a\"\\\n\u{1}é\u{2028}".as_bytes()));
        assert_eq!(String::from_utf8(out).unwrap(), "\"a\\\"\\\\\\n\\u0001é\u{2028}\"");
        assert!(!quote(&mut Vec::new(), &[0xED, 0xA0, 0x80]));
        assert!(quote(&mut Vec::new(), "\u{D7FF}".as_bytes()));
    }
}
