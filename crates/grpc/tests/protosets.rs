//! Protosets and reflected files that somebody has spoiled: an error each, never a panic.

#![allow(clippy::unwrap_used)]

use onrush_grpc::Schema;
use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use prost_types::{MethodDescriptorProto, ServiceDescriptorProto};

/// A whole one, which is read.
fn good() -> Vec<u8> {
    let mut compiler = protox::Compiler::new([concat!(env!("CARGO_MANIFEST_DIR"), "/tests")]).unwrap();
    compiler.include_imports(true).open_file("every_type.proto").unwrap();
    compiler.encode_file_descriptor_set()
}

/// A file with one message `M` and the service `S`, whose method `Do` takes it.
fn file(change: impl FnOnce(&mut FileDescriptorProto)) -> FileDescriptorProto {
    let named = |name: &str| Some(name.to_owned());
    let method = MethodDescriptorProto {
        name: named("Do"),
        input_type: named(".M"),
        output_type: named(".M"),
        ..MethodDescriptorProto::default()
    };
    let mut file = FileDescriptorProto {
        name: named("a.proto"),
        syntax: named("proto3"),
        message_type: vec![DescriptorProto { name: named("M"), ..DescriptorProto::default() }],
        service: vec![ServiceDescriptorProto {
            name: named("S"),
            method: vec![method],
            ..ServiceDescriptorProto::default()
        }],
        ..FileDescriptorProto::default()
    };
    change(&mut file);
    file
}

fn field(name: &str, number: i32, of: Type, type_name: Option<&str>) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(of.into()),
        type_name: type_name.map(str::to_owned),
        ..FieldDescriptorProto::default()
    }
}

/// Why these files are no schema, or some of them are left out of it, on one line.
fn refusal(files: Vec<FileDescriptorProto>) -> String {
    let bytes = FileDescriptorSet { file: files }.encode_to_vec();
    let told = match Schema::from_protoset(&bytes) {
        Ok(schema) => schema.unreadable().join("; "),
        Err(error) => error.0,
    };
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_file_that_the_others_are_changes_of_is_good() {
    let bytes = FileDescriptorSet { file: vec![file(|_| {})] }.encode_to_vec();
    assert_eq!(Schema::from_protoset(&bytes).unwrap().methods()[0].path, "/S/Do");
}

#[test]
fn what_does_not_fit_together_is_told() {
    let import = |file: &mut FileDescriptorProto, name: &str| file.dependency.push(name.to_owned());
    let cases = [
        (
            "an import that lacks",
            vec![file(|file| import(file, "b.proto"))],
            "a.proto: imported file 'b.proto' has not been added",
        ),
        (
            "a method of a type that lacks",
            vec![file(|file| file.service[0].method[0].input_type = Some(".N".into()))],
            "a.proto: name '.N' is not defined",
        ),
        (
            "a field of a type that lacks",
            vec![file(|file| file.message_type[0].field.push(field("f", 1, Type::Message, Some(".N"))))],
            "a.proto: name '.N' is not defined",
        ),
        (
            "a number of a field that cannot be",
            vec![file(|file| file.message_type[0].field.push(field("f", 0, Type::Int32, None)))],
            "a.proto: invalid field number '0'",
        ),
        (
            "two fields of one number",
            vec![file(|file| {
                let fields = ["f", "g"].map(|name| field(name, 1, Type::Int32, None));
                file.message_type[0].field.extend(fields);
            })],
            "a.proto: field number '1' is already used",
        ),
        (
            "two types of one name",
            vec![file(|file| file.message_type.push(file.message_type[0].clone()))],
            "a.proto: name 'M' is defined twice",
        ),
        (
            "a message without a name",
            vec![file(|file| file.message_type[0].name = None)],
            "a.proto: name '.M' is not defined",
        ),
        (
            "one file twice",
            vec![file(|_| {}), file(|file| file.service.clear())],
            "a different file named 'a.proto' has already been added",
        ),
    ];
    for (what, files, message) in cases {
        assert_eq!(refusal(files), message, "{what}");
    }
}

#[test]
fn what_protoc_would_refuse_but_can_be_read_does_no_harm() {
    let importing = |file: &mut FileDescriptorProto, name: &str| file.dependency.push(name.to_owned());
    let other = file(|file| {
        (file.name, file.message_type, file.service) = (Some("b.proto".into()), Vec::new(), Vec::new());
        importing(file, "a.proto");
    });
    let cases = [
        ("imports in a circle", vec![file(|file| importing(file, "b.proto")), other]),
        ("a file that imports itself", vec![file(|file| importing(file, "a.proto"))]),
        (
            "a field whose enum is a message",
            vec![file(|file| file.message_type[0].field.push(field("f", 1, Type::Enum, Some(".M"))))],
        ),
    ];
    for (what, files) in cases {
        let bytes = FileDescriptorSet { file: files }.encode_to_vec();
        let schema = Schema::from_protoset(&bytes).unwrap();
        let method = &schema.methods()[0];
        assert_eq!(method.path, "/S/Do", "{what}");
        onrush_grpc::decode::check(&schema, schema.plan(method.input), &[]).unwrap();
    }
}

#[test]
fn one_that_is_cut_off_or_spoiled_anywhere_never_panics() {
    let good = good();
    let mut refused = 0;
    for end in (0..good.len()).step_by(7) {
        refused += usize::from(Schema::from_protoset(&good[..end]).is_err());
    }
    assert!(refused > 0);
    fastrand::seed(1);
    for _ in 0..300 {
        let mut bytes = good.clone();
        for _ in 0..fastrand::usize(1..4) {
            let at = fastrand::usize(..bytes.len());
            bytes[at] = fastrand::u8(..);
        }
        // What is still a schema has plans that can be made.
        if let Ok(schema) = Schema::from_protoset(&bytes) {
            for method in schema.methods() {
                let _ = (schema.plan(method.input), schema.plan(method.output));
            }
        }
    }
}
