//! Files of Protocol Buffers' editions (2023, 2024), made into what the descriptor library knows: proto2.
//!
//! proto2 can say everything that an edition says of the bytes: labels, `packed`, groups. What it cannot say is kept
//! beside the descriptor: fields without presence, and texts that must be UTF-8. A file of an edition comes as text
//! (`text.rs`) or as a descriptor (`features.rs`); both give a tree of features, which `lower` resolves from the file
//! down to each field (<https://protobuf.dev/editions/features/>, read in November 2026). Refuses other editions.
//! Invariant: what comes out has no syntax but proto2 and proto3.

mod features;
mod text;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FieldOptions, FileDescriptorProto};

pub(crate) use features::{FeatureSet, FileFeatures};
pub(crate) use text::{lowered, tokens};

use features::MessageFeatures;

/// A file of descriptors, and what its edition says beyond it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProtoFile {
    /// Of proto2 or proto3.
    pub descriptor: FileDescriptorProto,
    /// Of a file of an edition: each field by its full name.
    pub(crate) fields: Vec<(String, EditionField)>,
}

/// What an edition says of a field that its descriptor does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EditionField {
    /// A value that is the default is not told from one that is absent.
    pub(crate) is_implicit: bool,
    /// A text has to be UTF-8.
    pub(crate) is_strict: bool,
}

impl ProtoFile {
    /// From the bytes of a `FileDescriptorProto`; the error says what is wrong with them.
    pub fn decode(bytes: &[u8]) -> Result<ProtoFile, String> {
        let descriptor = <FileDescriptorProto as prost::Message>::decode(bytes).map_err(|error| error.to_string())?;
        if descriptor.syntax() != "editions" {
            return Ok(ProtoFile::from(descriptor));
        }
        let features = <FileFeatures as prost::Message>::decode(bytes).map_err(|error| error.to_string())?;
        features.check_edition().map_err(|why| format!("{}: {why}", descriptor.name()))?;
        Ok(ProtoFile::lower(descriptor, &features))
    }

    /// A file of an edition with these features.
    pub(crate) fn lower(mut descriptor: FileDescriptorProto, features: &FileFeatures) -> ProtoFile {
        descriptor.syntax = Some(String::from("proto2"));
        let mut fields = Vec::new();
        let outer = FeatureSet::EDITION_2023.with(features.own());
        let package = descriptor.package().to_owned();
        for message in &mut descriptor.message_type {
            lower_message(message, features::message(&features.messages, message.name()), outer, &package, &mut fields);
        }
        for field in &mut descriptor.extension {
            apply(field, outer.with(features::field(&features.extensions, field.name())));
        }
        ProtoFile { descriptor, fields }
    }
}

impl From<FileDescriptorProto> for ProtoFile {
    fn from(descriptor: FileDescriptorProto) -> ProtoFile {
        ProtoFile { descriptor, fields: Vec::new() }
    }
}

fn lower_message(
    message: &mut DescriptorProto,
    features: Option<&MessageFeatures>,
    outer: FeatureSet,
    scope: &str,
    fields: &mut Vec<(String, EditionField)>,
) {
    let nothing = MessageFeatures::default();
    let features = features.unwrap_or(&nothing);
    let outer = outer.with(features.own());
    let name = if scope.is_empty() { message.name().to_owned() } else { format!("{scope}.{}", message.name()) };
    let is_map = message.options.as_ref().is_some_and(|options| options.map_entry());
    for field in &mut message.field {
        let oneof = field.oneof_index.and_then(|at| message.oneof_decl.get(at as usize));
        let around = outer.with(oneof.and_then(|oneof| features::oneof(&features.oneofs, oneof.name())));
        let resolved = around.with(features::field(&features.fields, field.name()));
        if !is_map {
            apply(field, resolved);
        }
        fields.push((format!("{name}.{}", field.name()), beyond(field, resolved)));
    }
    for field in &mut message.extension {
        apply(field, outer.with(features::field(&features.extensions, field.name())));
    }
    for nested in &mut message.nested_type {
        lower_message(nested, features::message(&features.messages, nested.name()), outer, &name, fields);
    }
}

/// Says in proto2 what the features of a field are.
fn apply(field: &mut FieldDescriptorProto, features: FeatureSet) {
    if features.is_required() && field.label() == Label::Optional && field.oneof_index.is_none() {
        field.set_label(Label::Required);
    }
    if features.is_delimited() && field.r#type() == Type::Message {
        field.set_type(Type::Group);
    }
    let is_packable = !matches!(field.r#type(), Type::String | Type::Bytes | Type::Message | Type::Group);
    if field.label() == Label::Repeated && is_packable {
        let options = field.options.get_or_insert_with(FieldOptions::default);
        options.packed.get_or_insert(features.is_packed());
    }
}

fn beyond(field: &FieldDescriptorProto, features: FeatureSet) -> EditionField {
    let may_be_implicit = field.label() == Label::Optional
        && field.oneof_index.is_none()
        && !matches!(field.r#type(), Type::Message | Type::Group);
    EditionField { is_implicit: may_be_implicit && features.is_implicit(), is_strict: features.is_utf8() }
}
