//! From a script's value to the wire bytes of a message.
//!
//! Takes what the JSON mapping of Protocol Buffers takes: fields by JSON name or their own, enums by name or number,
//! 64-bit numbers as text too, bytes as base64. Beyond it, bytes as bytes. A value that does not fit is refused with
//! the path of the field, what it wants and what was found. Defaults that the wire does not tell are left out.

mod forms;

use crate::MAX_DEPTH;
use crate::enums::EnumPlan;
use crate::misfit::{Step, Unfit, misfit, unknown, within, wrong};
use crate::number::{floating, whole, whole_of};
use crate::plan::{FieldKind, FieldPlan, Form, MessagePlan, Shape};
use crate::schema::Schema;
use crate::value::{Done, Kind, Value};
use crate::well_known;
use crate::wire::{WireType, put_varint, tag, zigzag};

/// Appends the wire bytes of a value to `out`.
pub fn encode<V: Value>(schema: &Schema, plan: &MessagePlan, value: &V, out: &mut Vec<u8>) -> Done<V::Error> {
    let mut encoder = Encoder { schema, out, seen: Vec::new(), depth: 0 };
    let done = encoder.message(plan, value);
    debug_assert!(done.is_err() || encoder.depth == 0 && encoder.seen.is_empty(), "each message that begins ends");
    done
}

struct Encoder<'a> {
    schema: &'a Schema,
    out: &'a mut Vec<u8>,
    /// Bits of the fields, then of the oneofs, of the messages being written.
    seen: Vec<u64>,
    depth: usize,
}

impl Encoder<'_> {
    fn message<V: Value>(&mut self, plan: &MessagePlan, value: &V) -> Done<V::Error> {
        if self.depth == MAX_DEPTH {
            return Err(misfit(format!("messages nest deeper than {MAX_DEPTH}")));
        }
        self.depth += 1;
        match plan.form {
            Form::Fields => self.fields(plan, value, false)?,
            Form::Wrapper => {
                let field = &plan.fields[0];
                self.single(field, value, false)?;
            }
            Form::Timestamp => self.text(value, "a timestamp (RFC 3339)", well_known::timestamp)?,
            Form::Duration => self.text(value, "a duration (\"1.5s\")", well_known::duration)?,
            Form::FieldMask => self.mask(value)?,
            Form::Struct => self.entries(value)?,
            Form::List => self.items(value)?,
            Form::Value => self.value(value)?,
            Form::Any => self.any(value)?,
        }
        self.depth -= 1;
        Ok(())
    }

    /// `in_any`: the name `@type` is not a field's.
    fn fields<V: Value>(&mut self, plan: &MessagePlan, value: &V, in_any: bool) -> Done<V::Error> {
        self.expect(value, Kind::Object, "object")?;
        let from = self.seen.len();
        self.seen.resize(from + (plan.fields.len() + plan.oneofs.len()).div_ceil(64), 0);
        value.each_field(plan, |name, value| {
            let index = match name {
                Ok(index) => index as usize,
                Err("@type") if in_any => return Ok(()),
                Err(name) => return Err(unknown(plan, name)),
            };
            let field = &plan.fields[index];
            let done = self.field(plan, (from, index), value);
            within(done, || Step::Field(field.json_name.clone()))
        })?;
        for (index, field) in plan.fields.iter().enumerate().filter(|(_, field)| field.is_required) {
            if self.seen[from + index / 64] & 1 << (index % 64) == 0 {
                let problem = format!("required field {:?} of {} is not set", field.name, plan.name());
                return Err(misfit(problem));
            }
        }
        self.seen.truncate(from);
        Ok(())
    }

    /// Whether a bit was not set before.
    fn mark(&mut self, from: usize, index: usize) -> bool {
        let (word, bit) = (&mut self.seen[from + index / 64], 1 << (index % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn field<V: Value>(&mut self, plan: &MessagePlan, at: (usize, usize), value: &V) -> Done<V::Error> {
        let ((from, index), field) = (at, &plan.fields[at.1]);
        let kind = value.kind()?;
        if kind == Kind::Null && !self.takes_null(field) {
            return Ok(());
        }
        if !self.mark(from, index) {
            return Err(misfit("given twice, by its JSON name and by its own"));
        }
        if let Some(oneof) = field.oneof.map(|oneof| oneof as usize)
            && !self.mark(from, plan.fields.len() + oneof)
        {
            return Err(misfit(format!("another field of the oneof {:?} is set", plan.oneofs[oneof])));
        }
        match field.shape {
            Shape::One => self.single(field, value, field.has_presence),
            Shape::List { packed } => self.list(field, packed, value),
            Shape::Map => self.map(field, value),
        }
    }

    /// JSON's null is a value of its own in few places; elsewhere it is a field that is not set.
    fn takes_null(&self, field: &FieldPlan) -> bool {
        match &field.kind {
            _ if field.shape != Shape::One => false,
            FieldKind::Enum(named) => named.is_null,
            FieldKind::Message(number) => self.schema.plan(*number).form == Form::Value,
            _ => false,
        }
    }

    /// A tag and its value, unless it is the default of a field that does not tell it from nothing.
    fn single<V: Value>(&mut self, field: &FieldPlan, value: &V, tells_default: bool) -> Done<V::Error> {
        let start = self.out.len();
        self.out.extend_from_slice(&field.tag);
        let payload = self.out.len();
        self.payload(field, value)?;
        // A value is the default when all its bytes are zero: a length of a text that is not empty is not.
        if !tells_default && self.out[payload..].iter().all(|byte| *byte == 0) {
            self.out.truncate(start);
        }
        Ok(())
    }

    fn list<V: Value>(&mut self, field: &FieldPlan, packed: bool, value: &V) -> Done<V::Error> {
        self.expect(value, Kind::List, "list")?;
        if !packed {
            return value.each_item(|index, item| {
                self.out.extend_from_slice(&field.tag);
                within(self.payload(field, item), || Step::Item(index))
            });
        }
        let start = self.out.len();
        self.out.extend_from_slice(&field.packed_tag);
        let mut count = 0;
        self.delimited(|this| {
            value.each_item(|index, item| {
                count += 1;
                within(this.payload(field, item), || Step::Item(index))
            })
        })?;
        if count == 0 {
            self.out.truncate(start);
        }
        Ok(())
    }

    fn map<V: Value>(&mut self, field: &FieldPlan, value: &V) -> Done<V::Error> {
        self.expect(value, Kind::Object, "object")?;
        let FieldKind::Message(entry) = field.kind else { unreachable!("entries of maps are messages") };
        let schema = self.schema;
        let [key_field, value_field] = &*schema.plan(entry).fields else {
            unreachable!("an entry has a key and a value")
        };
        value.each_entry(|key, value| {
            self.out.extend_from_slice(&field.tag);
            let done = self.delimited(|this| {
                this.out.extend_from_slice(&key_field.tag);
                this.key(key_field, key)?;
                this.out.extend_from_slice(&value_field.tag);
                this.payload(value_field, value)
            });
            within(done, || Step::Key(key.into()))
        })
    }

    fn key<E>(&mut self, field: &FieldPlan, key: &str) -> Done<E> {
        match &field.kind {
            FieldKind::Text { .. } => self.bytes(key.as_bytes()),
            FieldKind::Bool => match key {
                "true" => self.out.push(1),
                "false" => self.out.push(0),
                _ => return Err(misfit(format!("expected a bool as key, found {key:?}"))),
            },
            kind => {
                let fits = whole(key).is_some_and(|number| self.integer(kind, number).is_some());
                return fits
                    .then_some(())
                    .ok_or_else(|| misfit(format!("expected an {} as key, found {key:?}", kind.word())));
            }
        }
        Ok(())
    }

    /// Writes a length and what `write` appends.
    fn delimited<E>(&mut self, write: impl FnOnce(&mut Self) -> Done<E>) -> Done<E> {
        let at = self.out.len();
        self.out.push(0);
        write(self)?;
        let length = self.out.len() - at - 1;
        if length < 0x80 {
            self.out[at] = length as u8;
            return Ok(());
        }
        let mut prefix = Vec::with_capacity(5);
        put_varint(&mut prefix, length as u64);
        self.out.splice(at..=at, prefix);
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        put_varint(self.out, bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    fn expect<V: Value>(&self, value: &V, wanted: Kind, word: &str) -> Done<V::Error> {
        if value.kind()? == wanted { Ok(()) } else { Err(wrong(value, word)) }
    }

    /// One value without its tag.
    fn payload<V: Value>(&mut self, field: &FieldPlan, value: &V) -> Done<V::Error> {
        let kind = value.kind()?;
        let wrong = || Err(wrong(value, field.kind.word()));
        match (&field.kind, kind) {
            (FieldKind::Message(number), _) => {
                let plan = self.schema.plan(*number);
                if kind == Kind::Null && plan.form != Form::Value {
                    return wrong();
                }
                return self.delimited(|this| this.message(plan, value));
            }
            (FieldKind::Group(number), _) => {
                let plan = self.schema.plan(*number);
                self.message(plan, value)?;
                put_varint(self.out, tag(field.number, WireType::EndGroup));
            }
            (FieldKind::Text { .. }, Kind::Text) => value.with_text(|text| self.bytes(text.as_bytes()))?,
            (FieldKind::Bool, Kind::Bool(flag)) => self.out.push(u8::from(flag)),
            (FieldKind::Bytes, Kind::Text) => {
                if !value.with_text(|text| base64(text).map(|bytes| self.bytes(&bytes)).is_some())? {
                    return wrong();
                }
            }
            (FieldKind::Bytes, Kind::Bytes) => {
                let mut bytes = Vec::new();
                value.add_bytes(&mut bytes)?;
                self.bytes(&bytes);
            }
            (FieldKind::Enum(named), _) => {
                let Some(number) = enum_number(named, kind, value)? else { return wrong() };
                put_varint(self.out, i64::from(number) as u64);
            }
            (FieldKind::Double | FieldKind::Float, _) => {
                let number = match kind {
                    Kind::Number(number) => Some(number),
                    Kind::Text => value.with_text(floating)?,
                    _ => None,
                };
                let is_double = matches!(field.kind, FieldKind::Double);
                if number.and_then(|number| self.floating(is_double, number)).is_none() {
                    return wrong();
                }
            }
            (FieldKind::Text { .. } | FieldKind::Bool | FieldKind::Bytes, _) => return wrong(),
            (integer, _) => {
                let number = match kind {
                    Kind::Number(number) => whole_of(number),
                    Kind::Text | Kind::BigInt => value.with_text(whole)?,
                    _ => None,
                };
                if number.and_then(|number| self.integer(integer, number)).is_none() {
                    return wrong();
                }
            }
        }
        Ok(())
    }

    /// `None`: the field is too narrow.
    fn floating(&mut self, is_double: bool, number: f64) -> Option<()> {
        let narrow = number as f32;
        if is_double {
            self.out.extend_from_slice(&number.to_le_bytes());
        } else if narrow.is_finite() || !number.is_finite() {
            self.out.extend_from_slice(&narrow.to_le_bytes());
        } else {
            return None;
        }
        Some(())
    }

    /// `None`: the field is too narrow.
    fn integer(&mut self, kind: &FieldKind, number: i128) -> Option<()> {
        use FieldKind::*;
        match kind {
            Int32 => put_varint(self.out, i64::from(i32::try_from(number).ok()?) as u64),
            Int64 => put_varint(self.out, i64::try_from(number).ok()? as u64),
            Uint32 => put_varint(self.out, u32::try_from(number).ok()?.into()),
            Uint64 => put_varint(self.out, u64::try_from(number).ok()?),
            // Of 32 bits, zigzag of the wider number is the same.
            Sint32 => put_varint(self.out, zigzag(i32::try_from(number).ok()?.into())),
            Sint64 => put_varint(self.out, zigzag(i64::try_from(number).ok()?)),
            Fixed32 => self.out.extend_from_slice(&u32::try_from(number).ok()?.to_le_bytes()),
            Fixed64 => self.out.extend_from_slice(&u64::try_from(number).ok()?.to_le_bytes()),
            Sfixed32 => self.out.extend_from_slice(&i32::try_from(number).ok()?.to_le_bytes()),
            Sfixed64 => self.out.extend_from_slice(&i64::try_from(number).ok()?.to_le_bytes()),
            _ => return None,
        }
        Some(())
    }
}

/// The number of an enum's value; `None`: it is no value of an enum.
fn enum_number<V: Value>(named: &EnumPlan, kind: Kind, value: &V) -> Result<Option<i32>, Unfit<V::Error>> {
    Ok(match kind {
        Kind::Text => match value.with_text(|name| named.number(name).ok_or_else(|| name.to_owned()))? {
            Ok(number) => Some(number),
            Err(name) => {
                let hint = units::suggest::hint(&name, named.names());
                return Err(misfit(format!("the enum has no value {name:?}{hint}")));
            }
        },
        Kind::Number(number) => whole_of(number).and_then(|number| i32::try_from(number).ok()),
        Kind::Null if named.is_null => Some(0),
        _ => None,
    })
}

/// Standard or URL-safe, padded or not.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if padding > 0 && (padding > 2 || !text.len().is_multiple_of(4)) {
        return None;
    }
    let is_url_safe = digits.contains(['-', '_']);
    let alphabet = if is_url_safe { base64_simd::URL_SAFE_NO_PAD } else { base64_simd::STANDARD_NO_PAD };
    alphabet.decode_to_vec(digits.as_bytes()).ok()
}
