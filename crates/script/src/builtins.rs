//! What the loader knows of the built-in modules: a list, made by `modules`, which alone knows them.
//!
//! The loader, the linker and the life of a user see this value and no module. Everything that a module wants of them
//! is a field of the list.

use host::js::{Ctx, Object, Value};

/// A built-in module: what a script gets for `import … from "<name>"` and `require("<name>")`.
pub struct ModuleDef {
    /// Import path.
    pub name: &'static str,
    /// Names that can be imported, besides `default`, which is the whole object unless the object has a `default` key.
    pub exports: &'static [&'static str],
    /// Makes the object; called at most once per virtual user, at the first import.
    pub load: for<'js> fn(&Ctx<'js>) -> host::js::Result<Object<'js>>,
    /// TypeScript declarations: the reference documentation of the module.
    pub types: &'static str,
}

/// A text of k6's FormData library that scripts carry with them, and the module that replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryText {
    /// A hash of its syntax tree, as `loader::library::signatures` gives it.
    pub signature: &'static str,
    /// Which text it is, for the log.
    pub version: &'static str,
    /// The import path of the native module whose `FormData` behaves as the text does.
    pub module: &'static str,
}

/// What a value that a module made is as data, as k6 writes its structures in Go.
pub enum AsData<'js> {
    /// Its properties but those that are functions.
    WithoutFunctions,
    /// These fields.
    Fields([(&'static str, Value<'js>); 3]),
}

/// Makes the value of a global name.
pub type MakeGlobal = for<'js> fn(&Ctx<'js>) -> host::js::Result<Value<'js>>;

/// The built-in modules of a program.
pub struct Builtins {
    /// Each module once, by its import path, in one list or several.
    pub lists: &'static [&'static [ModuleDef]],
    /// Import paths that this build has nothing for, and the cargo features that would.
    pub left_out: &'static [(&'static str, &'static str)],
    /// The module that any other import path means: a library's address in a known version, a module that only the
    /// loader names.
    pub alias: fn(&str) -> Option<&'static ModuleDef>,
    /// The text of a library, by its address: it is not fetched.
    pub text: fn(&str) -> Option<String>,
    /// What the error says of an address that could not be fetched: which versions of a library are built in.
    pub advice: fn(&str) -> Option<String>,
    /// Texts of libraries that a module replaces.
    pub libraries: &'static [LibraryText],
    /// Global names that modules bring, each made when it is first read.
    pub globals: &'static [(&'static str, MakeGlobal)],
    /// What a value of a module is as data; nothing for any other value.
    pub as_data: for<'js> fn(&Value<'js>) -> host::js::Result<Option<AsData<'js>>>,
    /// Called before each iteration, in this order.
    pub on_iteration_start: &'static [fn(&Ctx<'_>)],
}

impl Builtins {
    /// Each module once.
    pub fn modules(&self) -> impl Iterator<Item = &'static ModuleDef> {
        self.lists.iter().copied().flatten()
    }

    /// The module that an import path means.
    pub fn find(&self, path: &str) -> Option<&'static ModuleDef> {
        self.modules().find(|module| module.name == path).or_else(|| (self.alias)(path))
    }
}
