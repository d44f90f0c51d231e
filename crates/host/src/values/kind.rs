//! What a script value is, asked once.
//!
//! Native functions take strings, buffers, literals and objects of their own, and each kind goes another way.
//! `Kind::of` looks at the value's tag and, of objects, at their class; it runs no code of the script and makes no
//! exception. Asking an object for a Rust value that it may hold costs more, so it is left for `Kind::Other`. Proxies
//! are `Other`, whatever is behind them.

use rquickjs::{Array, Function, Object, Value, qjs};

use crate::values::object;

/// What a value is.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a, 'js> {
    /// `undefined` or `null`.
    Nothing,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A BigInt.
    BigInt,
    /// A symbol.
    Symbol,
    /// A string.
    Text(&'a rquickjs::String<'js>),
    /// Bytes: an ArrayBuffer, or a view of one. Its memory may be detached.
    Buffer(BufferKind),
    /// An object of a literal, or of a class of the script that extends none of the engine's.
    Plain(&'a Object<'js>),
    /// An array.
    Array(&'a Array<'js>),
    /// A function or a class.
    Function(&'a Function<'js>),
    /// A Date.
    Date(&'a Object<'js>),
    /// A Map.
    Map(&'a Object<'js>),
    /// A promise.
    Promise(&'a Object<'js>),
    /// An object of any other class: an Error, a Set, a proxy, an object that holds a Rust value.
    Other(&'a Object<'js>),
}

/// Kinds of buffers, as they are kept and made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferKind {
    /// The buffer itself.
    Buffer,
    /// A typed array.
    Typed(ElementType),
    /// A DataView.
    View,
}

/// What a typed array consists of, with the engine's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ElementType {
    /// `Uint8ClampedArray`.
    Uint8Clamped = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8C,
    /// `Int8Array`.
    Int8 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_INT8,
    /// `Uint8Array`.
    Uint8 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8,
    /// `Int16Array`.
    Int16 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_INT16,
    /// `Uint16Array`.
    Uint16 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT16,
    /// `Int32Array`.
    Int32 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_INT32,
    /// `Uint32Array`.
    Uint32 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT32,
    /// `BigInt64Array`.
    BigInt64 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_BIG_INT64,
    /// `BigUint64Array`.
    BigUint64 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_BIG_UINT64,
    /// `Float16Array`.
    Float16 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_FLOAT16,
    /// `Float32Array`.
    Float32 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_FLOAT32,
    /// `Float64Array`.
    Float64 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_FLOAT64,
}

impl ElementType {
    const ALL: [ElementType; 12] = [
        ElementType::Uint8Clamped,
        ElementType::Int8,
        ElementType::Uint8,
        ElementType::Int16,
        ElementType::Uint16,
        ElementType::Int32,
        ElementType::Uint32,
        ElementType::BigInt64,
        ElementType::BigUint64,
        ElementType::Float16,
        ElementType::Float32,
        ElementType::Float64,
    ];

    /// Whether the elements are whole numbers.
    pub fn is_integer(self) -> bool {
        !matches!(self, ElementType::Float16 | ElementType::Float32 | ElementType::Float64)
    }

    /// The elements of this number of the engine's.
    fn of(number: qjs::c_int) -> Option<ElementType> {
        let number = u32::try_from(number).ok()?;
        ElementType::ALL.iter().copied().find(|elements| *elements as u32 == number)
    }
}

impl<'a, 'js> Kind<'a, 'js> {
    /// The kind of a value.
    pub fn of(value: &'a Value<'js>) -> Kind<'a, 'js> {
        if let Some(object) = object::of(value) {
            return Kind::of_object(value, object);
        }
        if let Some(text) = value.as_string() {
            return Kind::Text(text);
        }
        if let Some(number) = value.as_number() {
            return Kind::Number(number);
        }
        if let Some(flag) = value.as_bool() {
            return Kind::Bool(flag);
        }
        match value.type_of() {
            rquickjs::Type::BigInt => Kind::BigInt,
            rquickjs::Type::Symbol => Kind::Symbol,
            _ => Kind::Nothing,
        }
    }

    fn of_object(value: &'a Value<'js>, object: &'a Object<'js>) -> Kind<'a, 'js> {
        if object::is_plain(value) {
            return Kind::Plain(object);
        }
        if let Some(kind) = BufferKind::of(object) {
            return Kind::Buffer(kind);
        }
        let (context, raw) = (value.ctx().as_raw().as_ptr(), object.as_raw());
        // SAFETY: these look at the class of a live object only; the references are of the kind that was just found.
        unsafe {
            if qjs::JS_IsArray(raw) {
                Kind::Array(value.ref_array())
            } else if qjs::JS_IsFunction(context, raw) {
                Kind::Function(value.ref_function())
            } else if qjs::JS_IsDate(raw) {
                Kind::Date(object)
            } else if qjs::JS_IsMap(raw) {
                Kind::Map(object)
            } else if qjs::JS_IsPromise(raw) {
                Kind::Promise(object)
            } else {
                Kind::Other(object)
            }
        }
    }
}

impl BufferKind {
    /// The kind of an object that shows bytes; nothing for others.
    pub fn of(object: &Object<'_>) -> Option<BufferKind> {
        // SAFETY: these look at the class of a live object only.
        unsafe {
            let raw = object.as_raw();
            if qjs::JS_IsArrayBuffer(raw) {
                return Some(BufferKind::Buffer);
            }
            if let Some(elements) = ElementType::of(qjs::JS_GetTypedArrayType(raw)) {
                return Some(BufferKind::Typed(elements));
            }
            qjs::JS_IsDataView(raw).then_some(BufferKind::View)
        }
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    /// The name of the variant that a source's value is of.
    fn kind(source: &str) -> String {
        let runtime = Runtime::new().expect("a runtime");
        Context::full(&runtime).expect("a context").with(|ctx| {
            let value: Value<'_> = ctx.eval(source).expect("the source is fine");
            let shown = match Kind::of(&value) {
                Kind::Buffer(kind) => format!("{kind:?}"),
                kind => format!("{kind:?}").split('(').next().unwrap_or_default().to_owned(),
            };
            assert!(!ctx.has_exception(), "{source}");
            shown
        })
    }

    #[test]
    fn each_value_has_one_kind() {
        for (source, expected) in [
            ("undefined", "Nothing"),
            ("null", "Nothing"),
            ("false", "Bool"),
            ("1", "Number"),
            ("1.5", "Number"),
            ("10n", "BigInt"),
            ("10n ** 40n", "BigInt"),
            ("Symbol('a')", "Symbol"),
            ("'a'", "Text"),
            ("'a' + 'b'.repeat(9000)", "Text"),
            ("new ArrayBuffer(1)", "Buffer"),
            ("new Uint8Array(1)", "Typed(Uint8)"),
            ("new DataView(new ArrayBuffer(1))", "View"),
            ("(() => { const b = new ArrayBuffer(4); b.transfer(); return b; })()", "Buffer"),
            ("({})", "Plain"),
            ("new (class A {})()", "Plain"),
            ("Object.create(null)", "Plain"),
            ("[]", "Array"),
            ("new (class A extends Array {})()", "Array"),
            ("() => 1", "Function"),
            ("(class A {})", "Function"),
            ("async () => 1", "Function"),
            ("new Date(0)", "Date"),
            ("new Map()", "Map"),
            ("Promise.resolve(1)", "Promise"),
            ("new Error('a')", "Other"),
            ("new Set()", "Other"),
            ("/a/", "Other"),
            ("new String('a')", "Other"),
            (
                "new Proxy({}, { get() { throw new Error('asked') }, getPrototypeOf() { throw new Error('asked') } })",
                "Other",
            ),
        ] {
            assert_eq!(kind(source), expected, "{source}");
        }
    }
}
