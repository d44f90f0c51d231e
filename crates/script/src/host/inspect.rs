//! Values as `console.log` prints them: k6's form, which follows neither `JSON.stringify` nor Node exactly.
//!
//! Plain Rust recursion over values the script may have nested deeply, so the depth is limited.

use rquickjs::{Array, Ctx, Object, Value, qjs};

use super::bytes;
use super::memory::Building;

/// Deeper values print as `...`: a limit of the coroutine's stack, far beyond what people read.
const DEEPEST: usize = 100;

/// One argument of `console.log`.
pub(crate) fn top_level(ctx: &Ctx<'_>, value: &Value<'_>) -> rquickjs::Result<String> {
    if let Some(text) = bytes::text(value)? {
        return Ok(text);
    }
    if value.is_undefined() {
        return Ok(String::from("undefined"));
    }
    if let Some(symbol) = value.as_symbol() {
        return description(ctx, symbol.as_value());
    }
    let mut printer = Printer { ctx, out: String::new(), memory: Building::default(), open: Vec::new() };
    printer.value(value)?;
    Ok(printer.out)
}

struct Printer<'a, 'js> {
    ctx: &'a Ctx<'js>,
    out: String,
    memory: Building,
    /// Objects being printed, by address.
    open: Vec<usize>,
}

impl<'js> Printer<'_, 'js> {
    fn value(&mut self, value: &Value<'_>) -> rquickjs::Result<()> {
        if value.is_undefined() || value.is_null() {
            self.out.push_str("null");
        } else if let Some(text) = bytes::text(value)? {
            self.quoted(&text);
        } else if let Some(symbol) = value.as_symbol() {
            let text = description(self.ctx, symbol.as_value())?;
            self.quoted(&text);
        } else if value.is_function() {
            self.out.push_str("[object Function]");
        } else if let Some(object) = value.as_object() {
            self.object(object)?;
        } else if value.as_number() == Some(0.0) {
            self.out.push('0');
        } else {
            let rquickjs::Coerced(text): rquickjs::Coerced<String> = value.get()?;
            self.out.push_str(&text);
        }
        Ok(())
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        self.out.push_str(text);
        self.out.push('"');
    }

    fn object(&mut self, object: &Object<'_>) -> rquickjs::Result<()> {
        // SAFETY: the address alone is used.
        let address = unsafe { qjs::JS_VALUE_GET_PTR(object.as_raw()) } as usize;
        if self.open.contains(&address) {
            self.out.push_str("[Circular]");
            return Ok(());
        }
        if self.open.len() >= DEEPEST {
            self.out.push_str("...");
            return Ok(());
        }
        self.open.push(address);
        let outcome = self.open_object(object);
        self.open.pop();
        outcome
    }

    fn open_object(&mut self, object: &Object<'_>) -> rquickjs::Result<()> {
        if object.is_error() {
            let rquickjs::Coerced(text): rquickjs::Coerced<String> = object.as_value().get()?;
            self.out.push_str(&text);
            return Ok(());
        }
        if let Some(array) = object.as_array() {
            return self.items(array);
        }
        // SAFETY: these look at the class of the object alone.
        let (is_date, is_buffer, is_typed) = unsafe {
            let raw = object.as_raw();
            (qjs::JS_IsDate(raw), qjs::JS_IsArrayBuffer(raw), qjs::JS_GetTypedArrayType(raw) >= 0)
        };
        if is_date {
            let text = object.ctx().json_stringify(object.as_value().clone())?;
            self.out.push_str(&text.map(|text| text.to_string()).transpose()?.unwrap_or_default());
            return Ok(());
        }
        if is_buffer {
            return self.array_buffer(object.as_value());
        }
        if is_typed {
            return self.typed_array(object);
        }
        self.properties(object)
    }

    fn items(&mut self, array: &Array<'_>) -> rquickjs::Result<()> {
        self.list('[', ']', array.iter::<Value<'_>>(), |printer, item| printer.value(&item?))
    }

    fn properties(&mut self, object: &Object<'_>) -> rquickjs::Result<()> {
        self.list('{', '}', object.keys::<rquickjs::String<'_>>(), |printer, key| {
            let key = key?;
            printer.out.push_str(&bytes::text(key.as_value())?.unwrap_or_default());
            printer.out.push_str(": ");
            printer.value(&object.get(key)?)
        })
    }

    fn typed_array(&mut self, object: &Object<'_>) -> rquickjs::Result<()> {
        let constructor: Object<'_> = object.get("constructor")?;
        let name: String = constructor.get("name")?;
        let length: u32 = object.get("length")?;
        self.out.push_str(&format!("{name}({length}) "));
        self.list('[', ']', 0..length, |printer, index| printer.value(&object.get::<_, Value<'_>>(index)?))
    }

    fn array_buffer(&mut self, value: &Value<'_>) -> rquickjs::Result<()> {
        let hex = bytes::read(value.ctx(), value, |bytes| {
            let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            (pairs.join(" "), bytes.len())
        })?;
        let (hex, length) = hex.unwrap_or_default();
        self.out.push_str(&format!("ArrayBuffer {{ [Uint8Contents]: <{hex}>, byteLength: {length} }}"));
        Ok(())
    }

    fn list<I>(
        &mut self,
        open: char,
        close: char,
        items: impl Iterator<Item = I>,
        mut print: impl FnMut(&mut Self, I) -> rquickjs::Result<()>,
    ) -> rquickjs::Result<()> {
        self.out.push(open);
        let mut empty = true;
        for item in items {
            self.memory.grew_to(self.ctx, self.out.capacity())?;
            self.out.push_str(if empty { " " } else { ", " });
            empty = false;
            print(self, item)?;
        }
        if !empty {
            self.out.push(' ');
        }
        self.out.push(close);
        Ok(())
    }
}

fn description(ctx: &Ctx<'_>, symbol: &Value<'_>) -> rquickjs::Result<String> {
    let _ = ctx;
    let description: Value<'_> =
        symbol.as_symbol().map(|s| s.description()).transpose()?.unwrap_or_else(|| symbol.clone());
    Ok(bytes::text(&description)?.unwrap_or_default())
}
