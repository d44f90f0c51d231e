//! Modules of a test: found, read, stripped of types and compiled once, then loaded as bytecode by every virtual user.
//!
//! VU 0 fills the store while it runs the init code; then the store is sealed, and a user that asks for a module VU 0
//! never imported gets an error, as in k6. Nothing here runs JavaScript.

mod callee;
pub(crate) mod instrument;
pub mod library;
mod nesting;
pub(crate) mod remote;
pub mod resolve;
pub mod site;
pub mod transpile;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use host::intrinsics::Parts;
use host::module::Bytecode;

use crate::builtins::{Builtins, LibraryText};
use crate::error::{Place, ScriptError, exit_code};
use crate::sources::disk::Disk;
use crate::sources::source_kind::SourceKind;
use instrument::{Language, instrument};
use site::{Shifts, SiteTable};
pub use transpile::ALL_NAMES;
use transpile::PositionMap;

/// A module ready to be compiled.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// How it is run.
    pub kind: SourceKind,
    /// What QuickJS compiles.
    pub code: String,
    /// The copies of k6's FormData library that were replaced in it.
    pub libraries: Vec<LibraryText>,
    /// Names that it imports, each behind the module it is imported from.
    pub imports: Vec<(String, String)>,
}

/// What the store knows of a module.
#[derive(Debug)]
pub struct Compiled {
    /// How it is run.
    pub kind: SourceKind,
    /// What has to be there before it runs.
    pub parts: Parts,
    /// For the runtimes of all users.
    pub bytecode: Bytecode,
}

#[derive(Debug)]
struct SourceText {
    text: String,
    /// Columns that its first line got when it was compiled.
    indent: u32,
    /// What was compiled, where that is not the text, and the way back.
    generated: Option<(String, PositionMap)>,
    /// The text with a debugger's calls, and the way back.
    debugged: Option<(String, Shifts)>,
}

impl SourceText {
    fn unindented(&self, line: u32, column: u32) -> u32 {
        if line == 1 { column.saturating_sub(self.indent).max(1) } else { column }
    }
}

/// What is put before a CommonJS module: a function whose body it is.
pub const COMMON_JS_HEAD: &str = "(function(module, exports, require){";

/// The modules of one program.
pub struct ModuleStore {
    builtins: &'static Builtins,
    sources: RwLock<HashMap<String, Arc<SourceText>>>,
    compiled: RwLock<HashMap<String, Arc<Compiled>>>,
    /// Names that modules import, each behind the module it is imported from.
    imported: RwLock<Vec<(String, String)>>,
    sealed: AtomicBool,
    builtins_used: Mutex<BTreeSet<String>>,
    /// What was asked before: a script may throw the same error in each iteration.
    callees: RwLock<HashMap<(String, u32, u32), Option<String>>>,
    pub(crate) disk: Arc<Disk>,
    /// Directory that relative paths of the entry script and of `open` start from.
    pub cwd: PathBuf,
    /// Where fetched modules are kept between runs.
    pub cache_dir: Option<PathBuf>,
    /// Whether they come from there alone.
    pub is_offline: bool,
    /// Where a debugger may stop; none: nothing is inserted.
    pub(crate) places: Option<Arc<SiteTable>>,
}

impl ModuleStore {
    /// An empty store.
    pub(crate) fn new(
        builtins: &'static Builtins,
        disk: Arc<Disk>,
        cwd: PathBuf,
        cache_dir: Option<PathBuf>,
        is_offline: bool,
    ) -> Self {
        let (sources, compiled, sealed) = (RwLock::default(), RwLock::default(), AtomicBool::new(false));
        let (imported, callees, builtins_used) = (RwLock::default(), RwLock::default(), Mutex::default());
        ModuleStore {
            builtins,
            disk,
            sources,
            compiled,
            imported,
            sealed,
            builtins_used,
            callees,
            cwd,
            cache_dir,
            is_offline,
            places: None,
        }
    }

    /// The modules that need no file and no URL.
    pub fn builtins(&self) -> &'static Builtins {
        self.builtins
    }

    /// The one name of the module that `specifier` means in the module `base`.
    pub fn resolve(&self, base: &str, specifier: &str) -> Result<String, ScriptError> {
        let resolved = resolve::resolve(self.builtins, base, specifier)?;
        if !self.is_sealed() && self.builtins.find(&resolved).is_some() {
            self.builtins_used.lock().unwrap_or_else(PoisonError::into_inner).insert(resolved.clone());
        }
        Ok(resolved)
    }

    /// From now on no module is added and no file remembered.
    pub fn seal(&self) {
        self.sealed.store(true, Ordering::Release);
        self.disk.seal();
    }

    /// Whether modules may still be added.
    pub fn is_sealed(&self) -> bool {
        self.sealed.load(Ordering::Acquire)
    }

    /// Whether the text of a module has still to be fetched from the network.
    pub(crate) fn needs_fetch(&self, name: &str) -> bool {
        name.starts_with("https://")
            && !self.is_sealed()
            && self.source(name).is_none()
            && (self.builtins.text)(name).is_none()
    }

    /// Puts a source under its name before it is imported (standard input, archives, fetched modules).
    pub fn insert_source(&self, name: &str, text: String) {
        let source = Arc::new(SourceText { text, indent: 0, generated: None, debugged: None });
        self.sources.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_string(), source);
    }

    /// The compiled module of that name.
    pub fn compiled(&self, name: &str) -> Option<Arc<Compiled>> {
        self.compiled.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Adds a compiled module.
    pub fn insert_compiled(&self, name: &str, module: Compiled) -> Arc<Compiled> {
        let module = Arc::new(module);
        self.compiled.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_string(), module.clone());
        module
    }

    /// Reads a module and makes it plain JavaScript.
    pub fn prepare(&self, name: &str) -> Result<Prepared, ScriptError> {
        if self.is_sealed() {
            let message = format!(
                "{name} was not imported by the first run of the init code, and later runs may not add modules; \
                 import it unconditionally"
            );
            return Err(ScriptError::new(message, exit_code::SCRIPT_EXCEPTION));
        }
        let text = match (self.source(name), (self.builtins.text)(name)) {
            (Some(source), _) => source.text.clone(),
            (None, Some(library)) => library,
            (None, None) => resolve::read(&self.disk, name)?,
        };
        let mut output = transpile::to_javascript(name, &text, self.builtins.libraries)?;
        let debugged = self.with_stops(name, &text, &mut output);
        let indent = if output.kind == SourceKind::CommonJs { COMMON_JS_HEAD.len() } else { 0 };
        let generated = output.map.map(|map| (output.code.clone(), map));
        let source = Arc::new(SourceText { text, indent: u32::try_from(indent).unwrap_or(0), generated, debugged });
        self.sources.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_string(), source);
        let named = output.imports.into_iter();
        let imports = named.filter_map(|(from, export)| Some((self.resolve(name, &from).ok()?, export)));
        let imports: Vec<_> = imports.collect();
        self.imported.write().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&imports);
        Ok(Prepared { kind: output.kind, code: output.code, libraries: output.libraries, imports })
    }

    /// Puts a debugger's calls into a module; the text with them, in the language in which it was written.
    fn with_stops(&self, name: &str, text: &str, output: &mut transpile::Output) -> Option<(String, Shifts)> {
        let places = self.places.as_ref().filter(|_| name.starts_with("file://"))?;
        if output.map.is_none() {
            let language = if output.kind == SourceKind::CommonJs { Language::CommonJs } else { Language::Module };
            let made = places.add(name, |first| instrument(&output.code, language, first))?;
            output.code.clone_from(&made.code);
            return Some((made.code, made.shifts));
        }
        let made = places.add(name, |first| instrument(text, Language::TypeScript, first))?;
        *output = transpile::to_javascript(name, &made.code, self.builtins.libraries).ok()?;
        Some((made.code, made.shifts))
    }

    /// Names that modules import from this one, as far as they have been read.
    pub fn imported_from(&self, module: &str) -> Vec<String> {
        let imported = self.imported.read().unwrap_or_else(PoisonError::into_inner);
        imported.iter().filter(|(from, _)| from == module).map(|(_, name)| name.clone()).collect()
    }

    /// The place in the source as written of a place in the code that ran.
    pub fn original_position(&self, name: &str, line: u32, column: u32) -> (u32, u32) {
        let Some(source) = self.source(name) else { return (line, column) };
        let column = source.unindented(line, column);
        let text = source.debugged.as_ref().map_or(&source.text, |(text, _)| text);
        let original = || {
            let (code, map) = source.generated.as_ref()?;
            let of_line = code.lines().nth(line.checked_sub(1)? as usize)?;
            let before: Vec<u16> = of_line.get(..column.checked_sub(1)? as usize)?.encode_utf16().collect();
            let ((line, column), distance) = map.original(line, u32::try_from(before.len()).ok()? + 1)?;
            // SiteTable are known of words, and a call is behind its word.
            let written = text.lines().nth(line as usize - 1).unwrap_or_default().encode_utf16();
            let is_same = written
                .skip(column as usize - 1)
                .take(distance as usize)
                .eq(before[before.len() - distance as usize..].iter().copied());
            Some((line, if is_same { column + distance } else { column }))
        };
        let original = original();
        match (original, &source.debugged) {
            (None, None) => (line, column),
            (None, Some((_, shifts))) => (line, shifts.of_bytes(line, column)),
            (Some(at), None) => at,
            (Some((line, column)), Some((_, shifts))) => (line, shifts.of_units(line, column)),
        }
    }

    /// What is called at a place in the code that ran, for the error that it is no function.
    pub(crate) fn callee_at(&self, name: &str, line: u32, column: u32) -> Option<String> {
        let place = (name.to_string(), line, column);
        if let Some(known) = self.callees.read().unwrap_or_else(PoisonError::into_inner).get(&place) {
            return known.clone();
        }
        let source = self.source(name)?;
        let text = source.debugged.as_ref().map_or(&source.text, |(text, _)| text);
        let code = source.generated.as_ref().map_or(text, |(code, _)| code);
        let callee = callee::at(code, line, source.unindented(line, column));
        self.callees.write().unwrap_or_else(PoisonError::into_inner).insert(place, callee.clone());
        callee
    }

    /// The built-in modules that were asked for, in the order of their names.
    pub fn builtins_used(&self) -> Vec<String> {
        self.builtins_used.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Names and texts of the modules that were read, with libraries that are built in; in the order of their names.
    pub fn all_texts(&self) -> Vec<(String, String)> {
        let sources = self.sources.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = sources.iter().map(|(name, source)| (name.clone(), source.text.clone())).collect();
        all.sort();
        all
    }

    /// A module's source as it was read.
    pub fn text(&self, name: &str) -> Option<String> {
        self.source(name).map(|source| source.text.clone())
    }

    /// One line of a module's source, counted from 1.
    pub fn source_line(&self, name: &str, line: u32) -> Option<String> {
        let source = self.source(name)?;
        source.text.lines().nth(line.checked_sub(1)? as usize).map(str::to_string)
    }

    /// Where the module `base` names `specifier`: the first line that quotes it.
    pub fn place_of_import(&self, base: &str, specifier: &str) -> Option<Place> {
        let source = self.source(base)?;
        let quoted = ['"', '\'', '`'].map(|quote| format!("{quote}{specifier}{quote}"));
        source.text.lines().zip(1..).find_map(|(text, line)| {
            let at = quoted.iter().filter_map(|quoted| text.find(quoted.as_str())).min()?;
            let column = u32::try_from(text[..at].chars().count()).ok()? + 1;
            Some(Place { file: base.to_string(), line, column, source_line: text.to_string() })
        })
    }

    fn source(&self, name: &str) -> Option<Arc<SourceText>> {
        self.sources.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}
