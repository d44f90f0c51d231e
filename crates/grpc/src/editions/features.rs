//! The features that a file of an edition sets, where it sets them.
//!
//! The messages are views of `FileDescriptorProto` and its parts: they have the fields that say features, by their
//! numbers in `google/protobuf/descriptor.proto`, and pass over all others.

use prost::Message;

/// Numbers of editions.
const KNOWN: [(i32, &str); 2] = [(1000, "2023"), (1001, "2024")];

/// Features, each by its number in the enumeration; absent where nothing is set.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct FeatureSet {
    /// 1 explicit, 2 implicit, 3 required.
    #[prost(int32, optional, tag = "1")]
    pub(crate) field_presence: Option<i32>,
    /// 1 packed, 2 expanded.
    #[prost(int32, optional, tag = "3")]
    pub(crate) repeated_field_encoding: Option<i32>,
    /// 2 verified, 3 not.
    #[prost(int32, optional, tag = "4")]
    pub(crate) utf8_validation: Option<i32>,
    /// 1 with its length, 2 delimited.
    #[prost(int32, optional, tag = "5")]
    pub(crate) message_encoding: Option<i32>,
}

impl FeatureSet {
    /// What holds where nothing is set; 2024 changed nothing of these.
    pub(crate) const EDITION_2023: FeatureSet = FeatureSet {
        field_presence: Some(1),
        repeated_field_encoding: Some(1),
        utf8_validation: Some(2),
        message_encoding: Some(1),
    };

    /// These, but for what an inner element sets.
    pub(crate) fn with(self, inner: Option<&FeatureSet>) -> FeatureSet {
        let Some(inner) = inner else { return self };
        FeatureSet {
            field_presence: inner.field_presence.or(self.field_presence),
            repeated_field_encoding: inner.repeated_field_encoding.or(self.repeated_field_encoding),
            utf8_validation: inner.utf8_validation.or(self.utf8_validation),
            message_encoding: inner.message_encoding.or(self.message_encoding),
        }
    }

    /// Sets a feature by the words of a .proto file; features of other purposes change nothing here.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        match (name, value) {
            ("field_presence", "EXPLICIT") => self.field_presence = Some(1),
            ("field_presence", "IMPLICIT") => self.field_presence = Some(2),
            ("field_presence", "LEGACY_REQUIRED") => self.field_presence = Some(3),
            ("repeated_field_encoding", "PACKED") => self.repeated_field_encoding = Some(1),
            ("repeated_field_encoding", "EXPANDED") => self.repeated_field_encoding = Some(2),
            ("utf8_validation", "VERIFY") => self.utf8_validation = Some(2),
            ("utf8_validation", "NONE") => self.utf8_validation = Some(3),
            ("message_encoding", "LENGTH_PREFIXED") => self.message_encoding = Some(1),
            ("message_encoding", "DELIMITED") => self.message_encoding = Some(2),
            _ => {}
        }
    }

    pub(crate) fn is_implicit(self) -> bool {
        self.field_presence == Some(2)
    }

    pub(crate) fn is_required(self) -> bool {
        self.field_presence == Some(3)
    }

    pub(crate) fn is_packed(self) -> bool {
        self.repeated_field_encoding == Some(1)
    }

    pub(crate) fn is_utf8(self) -> bool {
        self.utf8_validation == Some(2)
    }

    pub(crate) fn is_delimited(self) -> bool {
        self.message_encoding == Some(2)
    }
}

macro_rules! options {
    ($($name:ident = $tag:literal),*) => {
        $(#[derive(Clone, Copy, PartialEq, Eq, Message)]
        pub(crate) struct $name {
            #[prost(message, optional, tag = $tag)]
            pub(crate) features: Option<FeatureSet>,
        })*
    };
}

options!(OfFile = "50", OfMessage = "12", OfField = "21", OfOneof = "1");

/// A file.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FileFeatures {
    #[prost(message, repeated, tag = "4")]
    pub(crate) messages: Vec<MessageFeatures>,
    #[prost(message, repeated, tag = "7")]
    pub(crate) extensions: Vec<FieldFeatures>,
    #[prost(message, optional, tag = "8")]
    pub(crate) options: Option<OfFile>,
    #[prost(int32, tag = "14")]
    pub(crate) edition: i32,
}

/// A message type.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MessageFeatures {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) fields: Vec<FieldFeatures>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) messages: Vec<MessageFeatures>,
    #[prost(message, repeated, tag = "6")]
    pub(crate) extensions: Vec<FieldFeatures>,
    #[prost(message, optional, tag = "7")]
    pub(crate) options: Option<OfMessage>,
    #[prost(message, repeated, tag = "8")]
    pub(crate) oneofs: Vec<OneofFeatures>,
}

/// A field.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FieldFeatures {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "8")]
    pub(crate) options: Option<OfField>,
}

/// A oneof.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct OneofFeatures {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) options: Option<OfOneof>,
}

macro_rules! sets_features {
    ($($name:ident),*) => {
        $(impl $name {
            /// What it sets itself.
            pub(crate) fn own(&self) -> Option<&FeatureSet> {
                self.options.as_ref()?.features.as_ref()
            }
        })*
    };
}

sets_features!(FileFeatures, MessageFeatures, FieldFeatures, OneofFeatures);

/// Those of the file or message by their name.
pub(crate) fn message<'a>(all: &'a [MessageFeatures], name: &str) -> Option<&'a MessageFeatures> {
    all.iter().find(|message| message.name == name)
}

/// What the field of this name sets.
pub(crate) fn field<'a>(all: &'a [FieldFeatures], name: &str) -> Option<&'a FeatureSet> {
    all.iter().find(|field| field.name == name)?.own()
}

/// What the oneof of this name sets.
pub(crate) fn oneof<'a>(all: &'a [OneofFeatures], name: &str) -> Option<&'a FeatureSet> {
    all.iter().find(|oneof| oneof.name == name)?.own()
}

impl FileFeatures {
    /// Refuses editions whose rules are not known here.
    pub(crate) fn check_edition(&self) -> Result<(), String> {
        match KNOWN.iter().any(|(number, _)| *number == self.edition) {
            true => Ok(()),
            false => Err(format!("found edition number {}, expected that of 2023 or 2024", self.edition)),
        }
    }

    /// Of this edition, by its name.
    pub(crate) fn of_edition(name: &str) -> Result<FileFeatures, String> {
        let known = KNOWN.iter().find(|(_, known)| *known == name);
        let (edition, _) = known.ok_or_else(|| format!("found edition \"{name}\", expected \"2023\" or \"2024\""))?;
        Ok(FileFeatures { edition: *edition, ..FileFeatures::default() })
    }
}
