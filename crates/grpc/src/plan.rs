//! What is known of a message type before the first message comes: its fields by number and by name.
//!
//! Made once from the descriptor, at its first use, and shared by all users of the process. A field of a message type
//! refers to another plan by its index in the schema, so types may contain themselves.

use std::sync::Arc;

use prost_reflect::{Cardinality, FieldDescriptor, Kind as Described, MessageDescriptor, Syntax};
use rustc_hash::FxHashMap;

use crate::editions::EditionField;
use crate::enums::EnumPlan;
use crate::wire::{WireType, put_varint, tag};

/// A message type.
#[derive(Debug)]
pub struct MessagePlan {
    name: Box<str>,
    pub(crate) form: Form,
    pub(crate) fields: Box<[FieldPlan]>,
    names: FxHashMap<Box<str>, u32>,
    numbers: FxHashMap<u32, u32>,
    /// By number, as far as numbers are small: index + 1.
    few_numbers: [u16; 32],
    pub(crate) oneofs: Box<[Box<str>]>,
}

/// Which JSON form a message has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Fields,
    Timestamp,
    Duration,
    FieldMask,
    Struct,
    Value,
    List,
    Any,
    /// A single value in a message.
    Wrapper,
}

/// A field.
#[derive(Debug)]
pub struct FieldPlan {
    pub(crate) name: Box<str>,
    pub(crate) json_name: Box<str>,
    pub(crate) number: u32,
    /// The tag of one value, encoded.
    pub(crate) tag: Box<[u8]>,
    /// The tag of packed values, encoded.
    pub(crate) packed_tag: Box<[u8]>,
    pub(crate) shape: Shape,
    pub(crate) kind: FieldKind,
    /// A value that is the default is told from one that is absent.
    pub(crate) has_presence: bool,
    pub(crate) is_required: bool,
    /// What JSON has for a field that is absent.
    pub(crate) absent: Absent,
    pub(crate) oneof: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    One,
    List { packed: bool },
    Map,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    Nothing,
    Null,
    Default,
}

#[derive(Clone, Debug)]
pub(crate) enum FieldKind {
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    /// Whether it has to be UTF-8.
    Text {
        strict: bool,
    },
    Bytes,
    Enum(Arc<EnumPlan>),
    Message(u32),
    Group(u32),
}

impl FieldKind {
    pub(crate) fn wire(&self) -> WireType {
        use FieldKind::*;
        match self {
            Double | Fixed64 | Sfixed64 => WireType::Fixed64,
            Float | Fixed32 | Sfixed32 => WireType::Fixed32,
            Text { .. } | Bytes | Message(_) => WireType::Bytes,
            Group(_) => WireType::Group,
            _ => WireType::Varint,
        }
    }

    /// The word for it in messages.
    pub(crate) fn word(&self) -> &'static str {
        use FieldKind::*;
        match self {
            Double => "double",
            Float => "float",
            Int32 => "int32",
            Int64 => "int64",
            Uint32 => "uint32",
            Uint64 => "uint64",
            Sint32 => "sint32",
            Sint64 => "sint64",
            Fixed32 => "fixed32",
            Fixed64 => "fixed64",
            Sfixed32 => "sfixed32",
            Sfixed64 => "sfixed64",
            Bool => "bool",
            Text { .. } => "string",
            Bytes => "bytes (base64, an ArrayBuffer or a view of one)",
            Enum(_) => "enum",
            Message(_) | Group(_) => "object",
        }
    }
}

impl MessagePlan {
    /// `index` finds a message type in the schema; `edition` says what the edition of its file says of a field.
    pub(crate) fn new(
        descriptor: &MessageDescriptor,
        index: impl Fn(&MessageDescriptor) -> u32,
        edition: impl Fn(&str) -> Option<EditionField>,
    ) -> MessagePlan {
        let plan = |field: FieldDescriptor| FieldPlan::new(&field, &index, edition(field.full_name()));
        let fields: Box<[FieldPlan]> = descriptor.fields().map(plan).collect();
        let (mut names, mut numbers, mut few_numbers) = (FxHashMap::default(), FxHashMap::default(), [0; 32]);
        for (at, field) in fields.iter().enumerate() {
            names.insert(field.name.clone(), at as u32);
            numbers.insert(field.number, at as u32);
            if let (Some(slot), Ok(at)) = (few_numbers.get_mut(field.number as usize), u16::try_from(at + 1)) {
                *slot = at;
            }
        }
        // Where a JSON name is another field's own name, it is the JSON name that counts.
        names.extend(fields.iter().enumerate().map(|(at, field)| (field.json_name.clone(), at as u32)));
        for (at, name) in descriptor.fields().enumerate().filter_map(|(at, field)| Some((at, group_name(&field)?))) {
            names.entry(name).or_insert(at as u32);
        }
        let oneofs: Box<[Box<str>]> = descriptor.oneofs().map(|oneof| oneof.name().into()).collect();
        let form = form(descriptor.full_name());
        let is_known = |oneof: Option<u32>| oneof.is_none_or(|oneof| (oneof as usize) < oneofs.len());
        debug_assert!(fields.iter().all(|field| is_known(field.oneof)), "a field of a oneof that the message lacks");
        MessagePlan { name: descriptor.full_name().into(), form, fields, names, numbers, few_numbers, oneofs }
    }

    /// Its full name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field of this name, by its JSON name or its own, or the name of its group.
    pub fn field(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// The JSON names of its fields, in order.
    pub fn json_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.fields.iter().map(|field| &*field.json_name)
    }

    /// The JSON name of a field.
    pub fn json_name(&self, index: usize) -> &str {
        &self.fields[index].json_name
    }

    pub(crate) fn by_number(&self, number: u32) -> Option<usize> {
        let found = match self.few_numbers.get(number as usize) {
            Some(0) | None => self.numbers.get(&number).map(|at| *at as usize),
            Some(at) => Some(*at as usize - 1),
        };
        debug_assert!(found.is_none_or(|at| self.fields[at].number == number), "another field than {number}");
        found
    }
}

impl FieldPlan {
    fn new(
        field: &FieldDescriptor,
        index: impl Fn(&MessageDescriptor) -> u32,
        edition: Option<EditionField>,
    ) -> FieldPlan {
        let mut kind = kind(field, index);
        if let (FieldKind::Text { strict }, Some(edition)) = (&mut kind, edition) {
            *strict = edition.is_strict;
        }
        let is_implicit = edition.is_some_and(|edition| edition.is_implicit);
        let encoded = |wire| {
            let mut out = Vec::new();
            put_varint(&mut out, tag(field.number(), wire));
            out.into_boxed_slice()
        };
        let shape = match () {
            () if field.is_map() => Shape::Map,
            () if field.is_list() => Shape::List { packed: field.is_packed() },
            () => Shape::One,
        };
        let is_proto2 = field.parent_file().syntax() == Syntax::Proto2 && !is_implicit;
        let is_message = matches!(kind, FieldKind::Message(_) | FieldKind::Group(_));
        let absent = match () {
            () if shape != Shape::One => Absent::Default,
            () if field.containing_oneof().is_some() => Absent::Nothing,
            () if is_message || is_proto2 => Absent::Null,
            () => Absent::Default,
        };
        FieldPlan {
            name: field.name().into(),
            json_name: field.json_name().into(),
            number: field.number(),
            tag: encoded(kind.wire()),
            packed_tag: encoded(WireType::Bytes),
            shape,
            kind,
            has_presence: field.supports_presence() && !is_implicit,
            is_required: field.cardinality() == Cardinality::Required,
            absent,
            oneof: field.containing_oneof().and_then(|oneof| {
                let of = field.parent_message().oneofs().position(|other| other.name() == oneof.name())?;
                u32::try_from(of).ok()
            }),
        }
    }
}

/// The name by which a group is declared, `MyGroup` for the field `mygroup`.
fn group_name(field: &FieldDescriptor) -> Option<Box<str>> {
    let Described::Message(group) = field.kind() else { return None };
    let is_named_alike = field.is_group() && group.name().eq_ignore_ascii_case(field.name());
    is_named_alike.then(|| group.name().into())
}

fn kind(field: &FieldDescriptor, index: impl Fn(&MessageDescriptor) -> u32) -> FieldKind {
    match field.kind() {
        Described::Double => FieldKind::Double,
        Described::Float => FieldKind::Float,
        Described::Int32 => FieldKind::Int32,
        Described::Int64 => FieldKind::Int64,
        Described::Uint32 => FieldKind::Uint32,
        Described::Uint64 => FieldKind::Uint64,
        Described::Sint32 => FieldKind::Sint32,
        Described::Sint64 => FieldKind::Sint64,
        Described::Fixed32 => FieldKind::Fixed32,
        Described::Fixed64 => FieldKind::Fixed64,
        Described::Sfixed32 => FieldKind::Sfixed32,
        Described::Sfixed64 => FieldKind::Sfixed64,
        Described::Bool => FieldKind::Bool,
        Described::String => FieldKind::Text { strict: field.parent_file().syntax() != Syntax::Proto2 },
        Described::Bytes => FieldKind::Bytes,
        Described::Enum(named) => FieldKind::Enum(Arc::new(EnumPlan::new(&named))),
        Described::Message(message) if field.is_group() => FieldKind::Group(index(&message)),
        Described::Message(message) => FieldKind::Message(index(&message)),
    }
}

fn form(name: &str) -> Form {
    match name.strip_prefix("google.protobuf.") {
        Some("Timestamp") => Form::Timestamp,
        Some("Duration") => Form::Duration,
        Some("FieldMask") => Form::FieldMask,
        Some("Struct") => Form::Struct,
        Some("Value") => Form::Value,
        Some("ListValue") => Form::List,
        Some("Any") => Form::Any,
        Some(
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value" | "BoolValue"
            | "StringValue" | "BytesValue",
        ) => Form::Wrapper,
        _ => Form::Fields,
    }
}
