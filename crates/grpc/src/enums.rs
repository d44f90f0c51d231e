//! The names and numbers of an enum, found either way.

use prost_reflect::EnumDescriptor;
use rustc_hash::FxHashMap;

/// An enum.
#[derive(Debug)]
pub struct EnumPlan {
    numbers: FxHashMap<Box<str>, i32>,
    names: FxHashMap<i32, Box<str>>,
    /// `google.protobuf.NullValue`, which JSON has a value for.
    pub is_null: bool,
}

impl EnumPlan {
    pub fn new(descriptor: &EnumDescriptor) -> EnumPlan {
        let mut plan = EnumPlan {
            numbers: FxHashMap::default(),
            names: FxHashMap::default(),
            is_null: descriptor.full_name() == "google.protobuf.NullValue",
        };
        // In the order of the file, which `values()` does not keep.
        for value in &descriptor.enum_descriptor_proto().value {
            plan.numbers.insert(value.name().into(), value.number());
            // Of several names for a number (`allow_alias`), the first one of the file counts.
            plan.names.entry(value.number()).or_insert_with(|| value.name().into());
        }
        plan
    }

    pub fn number(&self, name: &str) -> Option<i32> {
        self.numbers.get(name).copied()
    }

    pub fn name(&self, number: i32) -> Option<&str> {
        self.names.get(&number).map(|name| &**name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.numbers.keys().map(|name| &**name)
    }
}
