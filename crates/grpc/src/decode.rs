//! From the wire bytes of a message to a script's value, in the JSON mapping of Protocol Buffers.
//!
//! Fields that are absent have their defaults, as k6 shows them: `0`, `""`, `[]`, `{}`, `null` for messages, nothing
//! for members of a oneof. One pass finds where fields are; each is then built where it is. Of a field that comes
//! twice the last value counts, and messages are merged. Unknown fields are passed over.

use std::fmt::{self, Display, Formatter};

use crate::MAX_DEPTH;
use crate::builder::{Builder, Nothing};
use crate::number::shown;
use crate::plan::{Absent, FieldKind, FieldPlan, Form, MessagePlan, Shape};
use crate::schema::Schema;
use crate::well_known;
use crate::wire::{Reader, WireType, unzigzag};

/// Why bytes are no message.
#[derive(Debug, PartialEq, Eq)]
pub enum Undecodable<E> {
    /// Making the value threw.
    Thrown(E),
    /// The bytes are at fault.
    Malformed(Malformed),
}

impl<E> From<E> for Undecodable<E> {
    fn from(error: E) -> Self {
        Undecodable::Thrown(error)
    }
}

/// What is wrong with bytes, and in which message type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    message: Box<str>,
    problem: &'static str,
}

impl Display for Malformed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.problem)
    }
}

type Built<B> = Result<<B as Builder>::Value, Undecodable<<B as Builder>::Error>>;

/// Builds the value of a message.
pub fn decode<B: Builder>(schema: &Schema, plan: &MessagePlan, bytes: &[u8], builder: &mut B) -> Built<B> {
    Decoder { schema, builder, slots: Vec::new(), depth: 0 }.message(plan, bytes)
}

/// Whether bytes are a message; costs no value.
pub fn check(schema: &Schema, plan: &MessagePlan, bytes: &[u8]) -> Result<(), Malformed> {
    decode(schema, plan, bytes, &mut Nothing).map_err(|error| match error {
        Undecodable::Malformed(malformed) => malformed,
        Undecodable::Thrown(never) => match never {},
    })
}

/// Where the values of a field are.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// Where the tag of the first one begins.
    first: usize,
    /// Where the tag of the last one begins.
    last: usize,
    count: usize,
}

struct Decoder<'a, B> {
    schema: &'a Schema,
    builder: &'a mut B,
    /// Of the messages being read.
    slots: Vec<Slot>,
    depth: usize,
}

fn malformed<E>(plan: &MessagePlan, problem: &'static str) -> Undecodable<E> {
    Undecodable::Malformed(Malformed { message: plan.name().into(), problem })
}

const CUT: &str = "the bytes end within a field, or a length or a tag is no number";
const WRONG_TYPE: &str = "a field has another wire type than its descriptor says";
const NO_UTF8: &str = "a string field is not UTF-8";
const TOO_DEEP: &str = "messages nest deeper than 100";
const NO_JSON: &str = "a value is outside of the range that JSON has for it";

impl<B: Builder> Decoder<'_, B> {
    fn message(&mut self, plan: &MessagePlan, bytes: &[u8]) -> Built<B> {
        if self.depth == MAX_DEPTH {
            return Err(malformed(plan, TOO_DEEP));
        }
        self.depth += 1;
        let from = self.slots.len();
        self.find(plan, bytes, from)?;
        let value = match plan.form {
            Form::Fields => {
                let mut object = self.builder.object()?;
                self.fields(plan, bytes, from, &mut object)?;
                self.builder.end_object(object)
            }
            Form::Wrapper => self.wrapped(plan, bytes, from)?,
            Form::Timestamp => self.moment(plan, bytes, from, well_known::timestamp_text)?,
            Form::Duration => self.moment(plan, bytes, from, well_known::duration_text)?,
            Form::FieldMask => self.mask(plan, bytes, from)?,
            // Its one field is the object, or the list.
            Form::Struct | Form::List => self.many(plan, &plan.fields[0], bytes, self.slots[from])?,
            Form::Value => self.value(plan, bytes, from)?,
            Form::Any => self.any(plan, bytes, from)?,
        };
        debug_assert_eq!(self.slots.len(), from + plan.fields.len(), "a message leaves the places of those around it");
        debug_assert!(self.depth > 0, "a message ends once");
        self.slots.truncate(from);
        self.depth -= 1;
        Ok(value)
    }

    /// Notes where fields are.
    fn find(&mut self, plan: &MessagePlan, bytes: &[u8], from: usize) -> Result<(), Undecodable<B::Error>> {
        self.slots.resize(from + plan.fields.len(), Slot::default());
        let mut reader = Reader::new(bytes);
        while !reader.is_done() {
            let start = reader.at;
            let (number, wire) = reader.tag().ok_or_else(|| malformed(plan, CUT))?;
            if let Some(index) = plan.by_number(number) {
                let field = &plan.fields[index];
                let is_packed = wire == WireType::Bytes && matches!(field.shape, Shape::List { .. });
                if wire != field.kind.wire() && !is_packed {
                    return Err(malformed(plan, WRONG_TYPE));
                }
                let slot = &mut self.slots[from + index];
                if slot.count == 0 {
                    slot.first = start;
                }
                slot.last = start;
                slot.count += 1;
            }
            reader.skip(number, wire, MAX_DEPTH).ok_or_else(|| malformed(plan, CUT))?;
        }
        self.keep_one_of(plan, from);
        Ok(())
    }

    /// Of the members of a oneof the last one counts.
    fn keep_one_of(&mut self, plan: &MessagePlan, from: usize) {
        for oneof in 0..plan.oneofs.len() as u32 {
            let members = || plan.fields.iter().enumerate().filter(|(_, field)| field.oneof == Some(oneof));
            let present = members().map(|(index, _)| index).filter(|index| self.slots[from + index].count > 0);
            let Some(last) = present.max_by_key(|index| self.slots[from + index].last) else { continue };
            for (index, _) in members().filter(|(index, _)| *index != last) {
                self.slots[from + index].count = 0;
            }
        }
    }

    fn fields(
        &mut self,
        plan: &MessagePlan,
        bytes: &[u8],
        from: usize,
        object: &mut B::Object,
    ) -> Result<(), Undecodable<B::Error>> {
        for (index, field) in plan.fields.iter().enumerate() {
            let slot = self.slots[from + index];
            let value = match (field.shape, slot.count, field.absent) {
                (Shape::One, 0, Absent::Nothing) => continue,
                (Shape::One, 0, Absent::Null) => self.builder.null(),
                (Shape::One, 0, Absent::Default) => self.default(field)?,
                (Shape::One, ..) => self.one(plan, field, bytes, slot)?,
                _ => self.many(plan, field, bytes, slot)?,
            };
            self.builder.field(object, plan, index, value)?;
        }
        Ok(())
    }

    fn default(&mut self, field: &FieldPlan) -> Built<B> {
        use FieldKind::*;
        Ok(match &field.kind {
            Int64 | Uint64 | Sint64 | Fixed64 | Sfixed64 => self.builder.int64(0)?,
            Bool => self.builder.bool(false),
            Text { .. } => self.builder.text("")?,
            Bytes => self.builder.bytes(b"")?,
            Enum(named) => match named.name(0).filter(|_| !named.is_null) {
                Some(name) => self.builder.text(name)?,
                None if named.is_null => self.builder.null(),
                None => self.builder.number(0.0),
            },
            Message(_) | Group(_) => self.builder.null(),
            _ => self.builder.number(0.0),
        })
    }

    /// The last value of a field, or the messages of it as one.
    fn one(&mut self, plan: &MessagePlan, field: &FieldPlan, bytes: &[u8], slot: Slot) -> Built<B> {
        let is_message = matches!(field.kind, FieldKind::Message(_));
        if !is_message || slot.count == 1 {
            let mut reader = Reader { bytes, at: slot.last };
            let _tag = reader.tag();
            return self.payload(plan, field, &mut reader);
        }
        let mut merged = Vec::new();
        self.each(bytes, field, slot, |_, reader| {
            merged.extend_from_slice(reader.delimited().unwrap_or_default());
            Ok(())
        })?;
        let FieldKind::Message(number) = field.kind else { unreachable!("looked at above") };
        let schema = self.schema;
        self.message(schema.plan(number), &merged)
    }

    /// Calls `each` with a reader at each value of a field. What was found is well formed.
    fn each(
        &mut self,
        bytes: &[u8],
        field: &FieldPlan,
        slot: Slot,
        mut each: impl FnMut(&mut Self, &mut Reader<'_>) -> Result<(), Undecodable<B::Error>>,
    ) -> Result<(), Undecodable<B::Error>> {
        let (mut reader, mut left) = (Reader { bytes, at: slot.first }, slot.count);
        while left > 0 {
            let Some((number, wire)) = reader.tag() else { break };
            if number != field.number {
                let _passed = reader.skip(number, wire, MAX_DEPTH);
                continue;
            }
            left -= 1;
            if wire == field.kind.wire() {
                each(self, &mut reader)?;
                continue;
            }
            let mut packed = Reader::new(reader.delimited().unwrap_or_default());
            while !packed.is_done() {
                each(self, &mut packed)?;
            }
        }
        debug_assert_eq!(left, 0, "each value of {} that was counted is found again", field.name);
        Ok(())
    }

    fn many(&mut self, plan: &MessagePlan, field: &FieldPlan, bytes: &[u8], slot: Slot) -> Built<B> {
        if field.shape == Shape::Map {
            return self.map(plan, field, bytes, slot);
        }
        let mut list = self.builder.list()?;
        self.each(bytes, field, slot, |this, reader| {
            let value = this.payload(plan, field, reader)?;
            Ok(this.builder.item(&mut list, value)?)
        })?;
        Ok(self.builder.end_list(list))
    }

    fn map(&mut self, plan: &MessagePlan, field: &FieldPlan, bytes: &[u8], slot: Slot) -> Built<B> {
        let FieldKind::Message(entry) = field.kind else { unreachable!("entries of maps are messages") };
        let schema = self.schema;
        let entry = schema.plan(entry);
        let mut object = self.builder.object()?;
        self.each(bytes, field, slot, |this, reader| {
            let bytes = reader.delimited().unwrap_or_default();
            let from = this.slots.len();
            this.find(entry, bytes, from)?;
            let [key, value] = [this.slots[from], this.slots[from + 1]];
            this.slots.truncate(from);
            let name = this.key(plan, &entry.fields[0], bytes, key)?;
            let field = &entry.fields[1];
            let value = match (&field.kind, value.count) {
                (FieldKind::Message(number), 0) => this.message(schema.plan(*number), b"")?,
                (_, 0) => this.default(field)?,
                _ => this.one(entry, field, bytes, value)?,
            };
            Ok(this.builder.entry(&mut object, &name, value)?)
        })?;
        Ok(self.builder.end_object(object))
    }

    fn key(
        &mut self,
        plan: &MessagePlan,
        field: &FieldPlan,
        bytes: &[u8],
        slot: Slot,
    ) -> Result<String, Undecodable<B::Error>> {
        let mut reader = Reader { bytes, at: slot.last };
        if slot.count == 0 {
            return Ok(match field.kind {
                FieldKind::Text { .. } => String::new(),
                FieldKind::Bool => String::from("false"),
                _ => String::from("0"),
            });
        }
        let _tag = reader.tag();
        let cut = || malformed(plan, CUT);
        Ok(match &field.kind {
            FieldKind::Text { .. } => {
                let text = reader.delimited().ok_or_else(cut)?;
                std::str::from_utf8(text).map_err(|_| malformed(plan, NO_UTF8))?.to_owned()
            }
            FieldKind::Bool => (reader.varint().ok_or_else(cut)? != 0).to_string(),
            kind => integer(kind, &mut reader).ok_or_else(cut)?.to_string(),
        })
    }

    /// One value behind its tag.
    fn payload(&mut self, plan: &MessagePlan, field: &FieldPlan, reader: &mut Reader<'_>) -> Built<B> {
        let cut = || malformed(plan, CUT);
        Ok(match &field.kind {
            FieldKind::Message(number) => {
                let schema = self.schema;
                let bytes = reader.delimited().ok_or_else(cut)?;
                self.message(schema.plan(*number), bytes)?
            }
            FieldKind::Group(number) => {
                let schema = self.schema;
                let bytes = reader.group(field.number).ok_or_else(cut)?;
                self.message(schema.plan(*number), bytes)?
            }
            FieldKind::Text { strict } => {
                let bytes = reader.delimited().ok_or_else(cut)?;
                match std::str::from_utf8(bytes) {
                    Ok(text) => self.builder.text(text)?,
                    Err(_) if *strict => return Err(malformed(plan, NO_UTF8)),
                    Err(_) => self.builder.text(&String::from_utf8_lossy(bytes))?,
                }
            }
            FieldKind::Bytes => self.builder.bytes(reader.delimited().ok_or_else(cut)?)?,
            FieldKind::Bool => self.builder.bool(reader.varint().ok_or_else(cut)? != 0),
            FieldKind::Double => {
                let number = f64::from_bits(reader.fixed64().ok_or_else(cut)?);
                self.floating(number)?
            }
            FieldKind::Float => {
                let number = f32::from_bits(reader.fixed32().ok_or_else(cut)?);
                self.floating(shown(number))?
            }
            FieldKind::Enum(named) => {
                let number = reader.varint().ok_or_else(cut)? as i32;
                match named.name(number) {
                    _ if named.is_null => self.builder.null(),
                    Some(name) => self.builder.text(name)?,
                    None => self.builder.number(number.into()),
                }
            }
            kind => {
                use FieldKind::*;
                let number = integer(kind, reader).ok_or_else(cut)?;
                match kind {
                    Int64 | Uint64 | Sint64 | Fixed64 | Sfixed64 => self.builder.int64(number)?,
                    _ => self.builder.number(number as f64),
                }
            }
        })
    }

    /// What JSON has no number for is a word.
    fn floating(&mut self, number: f64) -> Built<B> {
        Ok(match () {
            () if number.is_nan() => self.builder.text("NaN")?,
            () if number == f64::INFINITY => self.builder.text("Infinity")?,
            () if number == f64::NEG_INFINITY => self.builder.text("-Infinity")?,
            () => self.builder.number(number),
        })
    }

    fn wrapped(&mut self, plan: &MessagePlan, bytes: &[u8], from: usize) -> Built<B> {
        let (field, slot) = (&plan.fields[0], self.slots[from]);
        if slot.count == 0 { self.default(field) } else { self.one(plan, field, bytes, slot) }
    }

    /// Fields 1 and 2 as one text.
    fn moment(
        &mut self,
        plan: &MessagePlan,
        bytes: &[u8],
        from: usize,
        text: impl Fn(i64, i32) -> Option<String>,
    ) -> Built<B> {
        let [seconds, nanos] = [0, 1].map(|index| {
            let slot = self.slots[from + index];
            let mut reader = Reader { bytes, at: slot.last };
            let present = slot.count > 0 && reader.tag().is_some();
            if present { reader.varint().unwrap_or(0) } else { 0 }
        });
        match text(seconds as i64, nanos as i32) {
            Some(text) => Ok(self.builder.text(&text)?),
            None => Err(malformed(plan, NO_JSON)),
        }
    }

    fn mask(&mut self, plan: &MessagePlan, bytes: &[u8], from: usize) -> Built<B> {
        let mut text = String::new();
        let slot = self.slots[from];
        self.each(bytes, &plan.fields[0], slot, |_, reader| {
            let path = std::str::from_utf8(reader.delimited().unwrap_or_default());
            let path = path.map_err(|_| malformed(plan, NO_UTF8))?;
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(&well_known::mask_path(path));
            Ok(())
        })?;
        Ok(self.builder.text(&text)?)
    }

    /// `google.protobuf.Value`: what it holds.
    fn value(&mut self, plan: &MessagePlan, bytes: &[u8], from: usize) -> Built<B> {
        let held = (0..plan.fields.len()).find(|index| self.slots[from + index].count > 0);
        match held {
            None => Ok(self.builder.null()),
            Some(index) => self.one(plan, &plan.fields[index], bytes, self.slots[from + index]),
        }
    }

    fn any(&mut self, plan: &MessagePlan, bytes: &[u8], from: usize) -> Built<B> {
        let [url, value] = [0, 1].map(|index| {
            let slot = self.slots[from + index];
            let mut reader = Reader { bytes, at: slot.last };
            let present = slot.count > 0 && reader.tag().is_some();
            if present { reader.delimited().unwrap_or_default() } else { b"" }
        });
        let url = std::str::from_utf8(url).map_err(|_| malformed(plan, NO_UTF8))?;
        let mut object = self.builder.object()?;
        if url.is_empty() && value.is_empty() {
            return Ok(self.builder.end_object(object));
        }
        let named = self.builder.text(url)?;
        self.builder.entry(&mut object, "@type", named)?;
        let schema = self.schema;
        match schema.plan_of_url(url) {
            Some(inner) if inner.form == Form::Fields => {
                if self.depth == MAX_DEPTH {
                    return Err(malformed(plan, TOO_DEEP));
                }
                self.depth += 1;
                let from = self.slots.len();
                self.find(inner, value, from)?;
                self.fields(inner, value, from, &mut object)?;
                self.slots.truncate(from);
                self.depth -= 1;
            }
            Some(inner) => {
                let value = self.message(inner, value)?;
                self.builder.entry(&mut object, "value", value)?;
            }
            // A type that the script did not load stays bytes.
            None => {
                let value = self.builder.bytes(value)?;
                self.builder.entry(&mut object, "value", value)?;
            }
        }
        Ok(self.builder.end_object(object))
    }
}

fn integer(kind: &FieldKind, reader: &mut Reader<'_>) -> Option<i128> {
    use FieldKind::*;
    Some(match kind {
        Int32 => (reader.varint()? as i32).into(),
        Int64 => (reader.varint()? as i64).into(),
        Uint32 => (reader.varint()? as u32).into(),
        Uint64 => reader.varint()?.into(),
        Sint32 => (unzigzag(reader.varint()? & 0xffff_ffff) as i32).into(),
        Sint64 => unzigzag(reader.varint()?).into(),
        Fixed32 => reader.fixed32()?.into(),
        Fixed64 => reader.fixed64()?.into(),
        Sfixed32 => (reader.fixed32()? as i32).into(),
        Sfixed64 => (reader.fixed64()? as i64).into(),
        _ => return None,
    })
}
