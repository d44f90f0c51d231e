//! The message types and methods of a set of .proto files, from their text, from a protoset or from reflection.
//!
//! Shared by all users of a process: nothing in it changes but plans, which are made at their first use.

use std::path::Path;
use std::sync::OnceLock;

use prost_reflect::{DescriptorPool, MessageDescriptor, MethodDescriptor};
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use rustc_hash::FxHashMap;

use crate::plan::MessagePlan;

/// What a client has loaded.
#[derive(Debug)]
pub struct Schema {
    messages: Vec<MessageDescriptor>,
    plans: Vec<OnceLock<MessagePlan>>,
    index: FxHashMap<Box<str>, u32>,
    methods: Vec<Method>,
}

/// A method of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// `hello`.
    pub package: String,
    /// `Greeter`.
    pub service: String,
    /// `SayHello`.
    pub name: String,
    /// `/hello.Greeter/SayHello`.
    pub path: String,
    /// The client may send several messages.
    pub client_streams: bool,
    /// The server may send several messages.
    pub server_streams: bool,
    /// The plan of its requests.
    pub input: u32,
    /// The plan of its responses.
    pub output: u32,
}

impl Method {
    /// One side or both may send several messages.
    pub fn is_stream(&self) -> bool {
        self.client_streams || self.server_streams
    }
}

/// Why there is no schema; with `file:line:column` where a text is at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(pub String);

/// Reads .proto files for the compiler; an error is the message of its reader.
struct Reading<F>(F);

impl<F: Fn(&str) -> Option<Result<String, String>>> FileResolver for Reading<F> {
    fn resolve_path(&self, _path: &Path) -> Option<String> {
        None
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match (self.0)(name) {
            None => Err(protox::Error::file_not_found(name)),
            Some(Err(why)) => Err(protox::Error::new(why)),
            Some(Ok(source)) => File::from_source(name, &source),
        }
    }
}

/// The descriptors of files, as `Schema::compile` reads them.
pub fn compile(
    files: &[impl AsRef<str>],
    read: impl Fn(&str) -> Option<Result<String, String>> + 'static,
) -> Result<DescriptorPool, SchemaError> {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Reading(read));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = protox::Compiler::with_file_resolver(resolver);
    for file in files {
        // Debug is how this error says its place.
        compiler.open_file(file.as_ref()).map_err(|error| SchemaError(format!("{error:?}")))?;
    }
    Ok(compiler.descriptor_pool())
}

impl Schema {
    /// Compiles files. `read` finds the text of a file by its name in imports; `None`: there is no such file. The types
    /// of `google/protobuf/` are known without it.
    pub fn compile(
        files: &[String],
        read: impl Fn(&str) -> Option<Result<String, String>> + 'static,
    ) -> Result<Schema, SchemaError> {
        Schema::of(&compile(files, read)?)
    }

    /// From a `FileDescriptorSet` that protoc or buf wrote.
    pub fn from_protoset(bytes: &[u8]) -> Result<Schema, SchemaError> {
        let set = <FileDescriptorSet as prost::Message>::decode(bytes)
            .map_err(|error| SchemaError(format!("the file is no FileDescriptorSet: {error}")))?;
        Schema::from_files(set.file)
    }

    /// From descriptors in any order. Imports that are not among them, but are part of Protocol Buffers, are added.
    pub fn from_files(files: Vec<FileDescriptorProto>) -> Result<Schema, SchemaError> {
        // The pool panics at one it does not know.
        if let Some(file) = files.iter().find(|file| !matches!(file.syntax(), "" | "proto2" | "proto3")) {
            let (name, syntax) = (file.name(), file.syntax());
            return Err(SchemaError(format!("{name}: its syntax is {syntax:?}, expected \"proto2\" or \"proto3\"")));
        }
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(DescriptorPool::global().file_descriptor_protos().cloned())
            .and_then(|()| {
                let known: Vec<String> = pool.files().map(|file| file.name().to_owned()).collect();
                pool.add_file_descriptor_protos(
                    files.into_iter().filter(|file| !known.iter().any(|k| k == file.name())),
                )
            })
            .map_err(|error| SchemaError(format!("{error:?}")))?;
        Schema::of(&pool)
    }

    fn of(pool: &DescriptorPool) -> Result<Schema, SchemaError> {
        let messages: Vec<MessageDescriptor> = pool.all_messages().collect();
        let index = messages.iter().enumerate().map(|(at, message)| (message.full_name().into(), at as u32)).collect();
        let plans = messages.iter().map(|_| OnceLock::new()).collect();
        let mut schema = Schema { messages, plans, index, methods: Vec::new() };
        let methods = pool.services().flat_map(|service| service.methods().collect::<Vec<_>>());
        schema.methods = methods.filter_map(|method| schema.method_of(&method)).collect();
        Ok(schema)
    }

    fn method_of(&self, method: &MethodDescriptor) -> Option<Method> {
        let service = method.parent_service();
        Some(Method {
            package: service.package_name().to_owned(),
            service: service.name().to_owned(),
            name: method.name().to_owned(),
            path: format!("/{}/{}", service.full_name(), method.name()),
            client_streams: method.is_client_streaming(),
            server_streams: method.is_server_streaming(),
            input: self.message(method.input().full_name())?,
            output: self.message(method.output().full_name())?,
        })
    }

    /// Every method, in the order of the files.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The number of a message type.
    pub fn message(&self, full_name: &str) -> Option<u32> {
        self.index.get(full_name).copied()
    }

    /// The plan of a message type.
    pub fn plan(&self, number: u32) -> &MessagePlan {
        self.plans[number as usize].get_or_init(|| {
            let index = |message: &MessageDescriptor| self.index[message.full_name()];
            MessagePlan::new(&self.messages[number as usize], index)
        })
    }

    /// The plan of a type URL: its name is behind the last slash.
    pub(crate) fn plan_of_url(&self, url: &str) -> Option<&MessagePlan> {
        let name = url.rsplit('/').next()?;
        Some(self.plan(self.message(name)?))
    }
}

/// Why a method was not found among these, with the nearest name.
pub fn no_method<'a>(path: &str, methods: impl Iterator<Item = &'a Method>) -> String {
    let paths: Vec<&str> = methods.map(|method| &*method.path).collect();
    let hint = units::suggest::hint(path, paths);
    format!("method \"{path}\" not found in file descriptors{hint}")
}
