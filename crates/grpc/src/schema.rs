//! The message types and methods of a set of .proto files, from their text, from a protoset or from reflection.
//!
//! Shared by all users of a process: nothing in it changes but plans, which are made at their first use.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::OnceLock;

use prost_reflect::{DescriptorPool, MessageDescriptor, MethodDescriptor};
use prost_types::FileDescriptorProto;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use rustc_hash::FxHashMap;

use crate::custom_options::without_custom_options;
use crate::editions::{self, EditionField, FileFeatures, ProtoFile};
use crate::plan::MessagePlan;

/// What a client has loaded.
#[derive(Debug)]
pub struct Schema {
    messages: Vec<MessageDescriptor>,
    plans: Vec<OnceLock<MessagePlan>>,
    index: FxHashMap<Box<str>, u32>,
    methods: Vec<Method>,
    /// What editions say of fields beyond their descriptors, by full name.
    fields: HashMap<String, EditionField>,
    unreadable: Vec<String>,
}

/// A `FileDescriptorSet` whose files are still bytes.
#[derive(Clone, PartialEq, prost::Message)]
struct RawSet {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

/// What is wrong with a file's syntax; the pool panics at one it does not know.
fn unknown_syntax(file: &FileDescriptorProto) -> Option<String> {
    let (name, syntax) = (file.name(), file.syntax());
    let is_known = matches!(syntax, "" | "proto2" | "proto3");
    (!is_known).then(|| format!("{name}: its syntax is {syntax:?}, expected \"proto2\", \"proto3\" or an edition"))
}

/// Adds the files that can be read, each behind those that it imports; why the others cannot.
fn add_one_by_one(pool: &mut DescriptorPool, mut files: Vec<FileDescriptorProto>) -> Vec<String> {
    let mut unreadable = Vec::new();
    loop {
        let waiting: HashSet<String> = files.iter().map(|file| file.name().to_owned()).collect();
        let is_due = |file: &FileDescriptorProto| !file.dependency.iter().any(|name| waiting.contains(name));
        let (due, rest): (Vec<_>, Vec<_>) = files.into_iter().partition(is_due);
        // What is left imports itself in a circle: each says what is wrong with it.
        let (due, rest) = if due.is_empty() { (rest, Vec::new()) } else { (due, rest) };
        if due.is_empty() {
            return unreadable;
        }
        for file in due {
            let name = file.name().to_owned();
            let other = pool.get_file_by_name(&name).is_some_and(|known| *known.file_descriptor_proto() != file);
            let problem = match unknown_syntax(&file) {
                Some(problem) => Some(problem),
                None if other => Some(format!("a different file named '{name}' has already been added")),
                None => pool.add_file_descriptor_proto(file).err().map(|error| format!("{name}: {error:?}")),
            };
            unreadable.extend(problem);
        }
        files = rest;
    }
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
struct Reading<F> {
    read: Rc<F>,
    features: Features,
    /// Options that a file declares for itself or others are left out.
    without_custom_options: bool,
}

impl<F: Fn(&str) -> Option<Result<String, String>>> FileResolver for Reading<F> {
    fn resolve_path(&self, _path: &Path) -> Option<String> {
        None
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let source = match (self.read)(name) {
            None => return Err(protox::Error::file_not_found(name)),
            Some(Err(why)) => return Err(protox::Error::new(why)),
            Some(Ok(source)) if self.without_custom_options => without_custom_options(&source),
            Some(Ok(source)) => source,
        };
        match editions::lowered(&source) {
            Ok(None) => File::from_source(name, &source),
            Ok(Some((lowered, features))) => {
                self.features.borrow_mut().insert(name.to_owned(), features);
                File::from_source(name, &lowered)
            }
            Err(why) => Err(protox::Error::new(format!("{name}: {why}"))),
        }
    }
}

/// The features of files of editions, by file.
type Features = Rc<RefCell<HashMap<String, FileFeatures>>>;

/// The descriptors of files, as `Schema::compile` reads them, but for what editions say beyond them.
pub fn compile(
    files: &[impl AsRef<str>],
    read: impl Fn(&str) -> Option<Result<String, String>> + 'static,
) -> Result<DescriptorPool, SchemaError> {
    compile_with(files, read, &Features::default())
}

/// Custom options say nothing about messages, and the compiler refuses some values that others take (`inf`, a text
/// that is not UTF-8, `[ext]` by its short name): a file with such a value is read without them.
fn compile_with(
    files: &[impl AsRef<str>],
    read: impl Fn(&str) -> Option<Result<String, String>> + 'static,
    features: &Features,
) -> Result<DescriptorPool, SchemaError> {
    let read = Rc::new(read);
    let pool_of = |without_custom_options| {
        let mut resolver = ChainFileResolver::new();
        resolver.add(Reading { read: Rc::clone(&read), features: Rc::clone(features), without_custom_options });
        resolver.add(GoogleFileResolver::new());
        let mut compiler = protox::Compiler::with_file_resolver(resolver);
        for file in files {
            // Debug is how this error says its place.
            compiler.open_file(file.as_ref()).map_err(|error| format!("{error:?}"))?;
        }
        Ok(compiler.descriptor_pool())
    };
    pool_of(false)
        .or_else(|why: String| if is_of_custom_option(&why) { pool_of(true).map_err(|_| why) } else { Err(why) })
        .map_err(SchemaError)
}

/// Whether the compiler refuses a value that may be a good one of a custom option.
fn is_of_custom_option(why: &str) -> bool {
    let values =
        ["identifiers may not be negative", "integer is too large", "found 'inf'", "found 'nan'", "found '\"\\"];
    values.iter().any(|part| why.contains(part)) || why.contains("invalid value of type '")
}

impl Schema {
    /// Compiles files. `read` finds the text of a file by its name in imports; `None`: there is no such file. The types
    /// of `google/protobuf/` are known without it.
    pub fn compile(
        files: &[String],
        read: impl Fn(&str) -> Option<Result<String, String>> + 'static,
    ) -> Result<Schema, SchemaError> {
        let features = Features::default();
        let pool = compile_with(files, read, &features)?;
        let features = features.borrow();
        if features.is_empty() {
            return Ok(Schema::of(&pool, HashMap::new()));
        }
        let lower = |file: &FileDescriptorProto| match features.get(file.name()) {
            Some(features) => ProtoFile::lower(file.clone(), features),
            None => ProtoFile::from(file.clone()),
        };
        Schema::from_files(pool.file_descriptor_protos().map(lower).collect())
    }

    /// From a `FileDescriptorSet` that protoc or buf wrote.
    pub fn from_protoset(bytes: &[u8]) -> Result<Schema, SchemaError> {
        let no_set = |error: String| SchemaError(format!("the file is no FileDescriptorSet: {error}"));
        let set = <RawSet as prost::Message>::decode(bytes).map_err(|error| no_set(error.to_string()))?;
        let files = set.files.iter().map(|bytes| ProtoFile::decode(bytes));
        Schema::from_files(files.collect::<Result<_, _>>().map_err(no_set)?)
    }

    /// From descriptors in any order. Imports that are not among them, but are part of Protocol Buffers, are added.
    /// A file that cannot be read costs its own services, and those of files that import it; where nothing can be
    /// read, that is an error.
    pub fn from_files(files: Vec<ProtoFile>) -> Result<Schema, SchemaError> {
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(DescriptorPool::global().file_descriptor_protos().cloned())
            .map_err(|error| SchemaError(format!("{error:?}")))?;
        let known: HashSet<String> = pool.files().map(|file| file.name().to_owned()).collect();
        let mut fields = HashMap::new();
        let files: Vec<FileDescriptorProto> = files
            .into_iter()
            .filter(|file| !known.contains(file.descriptor.name()))
            .map(|file| {
                fields.extend(file.fields);
                file.descriptor
            })
            .collect();
        let mut whole = pool.clone();
        let refused = files.iter().find_map(unknown_syntax).map_or_else(
            || whole.add_file_descriptor_protos(files.iter().cloned()).err().map(|error| format!("{error:?}")),
            Some,
        );
        let Some(refused) = refused else { return Ok(Schema::of(&whole, fields)) };
        let unreadable = add_one_by_one(&mut pool, files);
        let schema = Schema { unreadable, ..Schema::of(&pool, fields) };
        if schema.methods.is_empty() { Err(SchemaError(refused)) } else { Ok(schema) }
    }

    /// Files that could not be read, and why: their services are missing.
    pub fn unreadable(&self) -> &[String] {
        &self.unreadable
    }

    fn of(pool: &DescriptorPool, fields: HashMap<String, EditionField>) -> Schema {
        let messages: Vec<MessageDescriptor> = pool.all_messages().collect();
        let index = messages.iter().enumerate().map(|(at, message)| (message.full_name().into(), at as u32)).collect();
        let plans = messages.iter().map(|_| OnceLock::new()).collect();
        let mut schema = Schema { messages, plans, index, fields, methods: Vec::new(), unreadable: Vec::new() };
        let methods = pool.services().flat_map(|service| service.methods().collect::<Vec<_>>());
        schema.methods = methods.filter_map(|method| schema.method_of(&method)).collect();
        schema
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
        debug_assert_eq!(self.plans.len(), self.messages.len(), "each message has a place for its plan");
        self.plans[number as usize].get_or_init(|| {
            let index = |message: &MessageDescriptor| self.index[message.full_name()];
            let edition = |field: &str| self.fields.get(field).copied();
            MessagePlan::new(&self.messages[number as usize], index, edition)
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
