//! The files of the services, compiled when the first client needs them.

use std::sync::LazyLock;

use grpc::Schema;
use grpc::editions::ProtoFile;
use prost_reflect::DescriptorPool;

/// The files by their names in imports.
const NAMES: [&str; 4] = [
    "onrush/test/v1/target.proto",
    "grpc/health/v1/health.proto",
    "grpc/reflection/v1/reflection.proto",
    "grpc/reflection/v1alpha/reflection.proto",
];

fn text(name: &str) -> Option<String> {
    let reflection = |version| include_str!("reflection.proto").replace("VERSION", version);
    let [target, health, v1, v1alpha] = NAMES;
    match name {
        _ if name == target => Some(include_str!("target.proto").to_owned()),
        _ if name == health => Some(include_str!("health.proto").to_owned()),
        _ if name == v1 => Some(reflection("v1")),
        _ if name == v1alpha => Some(reflection("v1alpha")),
        _ => None,
    }
}

/// What the files describe.
pub(crate) fn files() -> &'static DescriptorPool {
    static FILES: LazyLock<DescriptorPool> = LazyLock::new(|| {
        grpc::schema::compile(&NAMES, |name| text(name).map(Ok)).expect("the target's own files compile: a test asks")
    });
    &FILES
}

/// The same as plans of messages.
pub(crate) fn schema() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let files = files().file_descriptor_protos().cloned().map(ProtoFile::from).collect();
        Schema::from_files(files).expect("what compiled has plans")
    });
    &SCHEMA
}
