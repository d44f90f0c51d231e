//! Values as `console.log` prints them: k6's form, which follows neither `JSON.stringify` nor Node exactly.
//!
//! Plain Rust recursion over values the script may have nested deeply, so the depth is limited.

use host::Building;
use host::bytes;
use host::js::{Array, Ctx, Object, Value};
use host::kind::{BufferKind, Kind};
use host::object;

/// Deeper values print as `...`: a limit of the coroutine's stack, far beyond what people read.
const DEEPEST: usize = 100;

/// One argument of `console.log`.
pub(crate) fn top_level(ctx: &Ctx<'_>, value: &Value<'_>) -> host::js::Result<String> {
    if let Some(text) = bytes::text(value)? {
        return Ok(text);
    }
    if value.is_undefined() {
        return Ok(String::from("undefined"));
    }
    if let Some(symbol) = value.as_symbol() {
        return description(symbol.as_value());
    }
    let mut printer = ConsolePrinter { ctx, out: String::new(), memory: Building::default(), open: Vec::new() };
    printer.value(value)?;
    Ok(printer.out)
}

struct ConsolePrinter<'a, 'js> {
    ctx: &'a Ctx<'js>,
    out: String,
    memory: Building,
    /// Objects being printed, by address.
    open: Vec<usize>,
}

impl<'js> ConsolePrinter<'_, 'js> {
    fn value(&mut self, value: &Value<'_>) -> host::js::Result<()> {
        if value.is_undefined() || value.is_null() {
            self.out.push_str("null");
        } else if let Some(text) = bytes::text(value)? {
            self.quoted(&text);
        } else if let Some(symbol) = value.as_symbol() {
            let text = description(symbol.as_value())?;
            self.quoted(&text);
        } else if value.is_function() {
            self.out.push_str("[object Function]");
        } else if let Some(object) = value.as_object() {
            self.object(object)?;
        } else if value.as_number() == Some(0.0) {
            self.out.push('0');
        } else {
            let host::js::Coerced(text): host::js::Coerced<String> = value.get()?;
            self.out.push_str(&text);
        }
        Ok(())
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        self.out.push_str(text);
        self.out.push('"');
    }

    fn object(&mut self, object: &Object<'_>) -> host::js::Result<()> {
        let address = object::address(object);
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

    fn open_object(&mut self, object: &Object<'_>) -> host::js::Result<()> {
        if object.is_error() {
            let host::js::Coerced(text): host::js::Coerced<String> = object.as_value().get()?;
            self.out.push_str(&text);
            return Ok(());
        }
        if let Some(array) = object.as_array() {
            return self.items(array);
        }
        match Kind::of(object.as_value()) {
            Kind::Date(_) => {
                let text = object.ctx().json_stringify(object.as_value().clone())?;
                self.out.push_str(&text.map(|text| text.to_string()).transpose()?.unwrap_or_default());
                Ok(())
            }
            Kind::Buffer(BufferKind::Buffer) => self.array_buffer(object.as_value()),
            Kind::Buffer(BufferKind::Typed(_)) => self.typed_array(object),
            // A SharedArray is a proxy around an array.
            Kind::Other(_) if passes_for_array(object)? => {
                let length: u32 = object.get("length")?;
                self.list('[', ']', 0..length, |printer, index| printer.value(&object.get::<_, Value<'_>>(index)?))
            }
            _ => self.properties(object),
        }
    }

    fn items(&mut self, array: &Array<'_>) -> host::js::Result<()> {
        self.list('[', ']', array.iter::<Value<'_>>(), |printer, item| printer.value(&item?))
    }

    fn properties(&mut self, object: &Object<'_>) -> host::js::Result<()> {
        self.list('{', '}', object.keys::<host::js::String<'_>>(), |printer, key| {
            let key = key?;
            printer.out.push_str(&bytes::text(key.as_value())?.unwrap_or_default());
            printer.out.push_str(": ");
            printer.value(&object.get(key)?)
        })
    }

    fn typed_array(&mut self, object: &Object<'_>) -> host::js::Result<()> {
        let constructor: Object<'_> = object.get("constructor")?;
        let name: String = constructor.get("name")?;
        let length: u32 = object.get("length")?;
        self.out.push_str(&format!("{name}({length}) "));
        self.list('[', ']', 0..length, |printer, index| printer.value(&object.get::<_, Value<'_>>(index)?))
    }

    fn array_buffer(&mut self, value: &Value<'_>) -> host::js::Result<()> {
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
        mut print: impl FnMut(&mut Self, I) -> host::js::Result<()>,
    ) -> host::js::Result<()> {
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

fn description(symbol: &Value<'_>) -> host::js::Result<String> {
    let description: Value<'_> =
        symbol.as_symbol().map(|s| s.description()).transpose()?.unwrap_or_else(|| symbol.clone());
    Ok(bytes::text(&description)?.unwrap_or_default())
}
/// What `Array.isArray` says, proxies included.
fn passes_for_array(object: &Object<'_>) -> host::js::Result<bool> {
    let array: Object<'_> = object.ctx().globals().get("Array")?;
    array.get::<_, host::js::Function<'_>>("isArray")?.call((object.clone(),))
}
