//! Which machine code of this process is QuickJS's: the functions of its C files, by a table that the build made.
//!
//! Needed to know whether a thread that was interrupted stood in the engine's own code, and to name the native function
//! that does not end. The table is exact: offsets of functions in the code sections of the engine's object files, which
//! the linker places as wholes. Two exported functions of each file say where its section came to be; where their
//! distance is not the table's, the file is not used. Stripping the program takes nothing away.

use std::sync::OnceLock;

/// The code of one object file.
struct ObjectFile {
    /// Two exported functions, and their offsets.
    anchors: [(unsafe extern "C" fn(), usize); 2],
    /// Offset, length, and where the name begins in `names`.
    functions: &'static [(u32, u32, u32)],
    /// Names, a line each.
    names: &'static str,
}

/// What `build/function_table.rs` wrote.
#[allow(clashing_extern_declarations, reason = "the functions are only looked for, never called")]
mod table {
    use super::ObjectFile;

    include!(concat!(env!("OUT_DIR"), "/engine_functions.rs"));

    pub(crate) fn files() -> &'static [ObjectFile] {
        FILES
    }
}

/// Functions that hold the mutex of `Atomics`, which all runtimes of the process share.
const LOCKING: &str = "js_atomics_";

/// One function's code.
#[derive(Clone, Copy)]
struct Function {
    start: usize,
    end: usize,
    name: &'static str,
}

/// The functions of the engine, by address.
pub(crate) struct EngineCode {
    functions: Vec<Function>,
}

static CODE: OnceLock<Option<EngineCode>> = OnceLock::new();

impl EngineCode {
    /// Makes the table if it is not there yet; nothing where the linker placed the engine's code otherwise.
    pub fn load() -> Option<&'static EngineCode> {
        CODE.get_or_init(|| EngineCode::of(table::files())).as_ref()
    }

    /// The table, if it was made. Safe to call in a signal handler.
    pub fn loaded() -> Option<&'static EngineCode> {
        CODE.get().and_then(Option::as_ref)
    }

    /// Whether the instruction at this address is the engine's. Safe to call in a signal handler.
    pub fn contains(&self, address: usize) -> bool {
        self.function_at(address).is_some()
    }

    /// The name of the C function at this address.
    pub fn name_at(&self, address: usize) -> Option<&'static str> {
        self.function_at(address).map(|function| function.name)
    }

    fn function_at(&self, address: usize) -> Option<&Function> {
        let after = self.functions.partition_point(|function| function.start <= address);
        self.functions.get(after.checked_sub(1)?).filter(|function| address < function.end)
    }

    fn of(files: &[ObjectFile]) -> Option<EngineCode> {
        let mut functions: Vec<Function> = files.iter().flat_map(ObjectFile::placed).collect();
        functions.sort_unstable_by_key(|function| function.start);
        (!functions.is_empty()).then_some(EngineCode { functions })
    }
}

impl ObjectFile {
    /// Its functions where the linker placed them; none where the two anchors disagree.
    fn placed(&self) -> Vec<Function> {
        let bases = self.anchors.map(|(function, offset)| (function as usize).wrapping_sub(offset));
        if bases[0] != bases[1] {
            return Vec::new();
        }
        let name = |at: u32| self.names.get(at as usize..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let all = self.functions.iter().map(|&(offset, length, at)| {
            let start = bases[0] + offset as usize;
            Function { start, end: start + length as usize, name: name(at) }
        });
        all.filter(|function| !function.name.starts_with(LOCKING)).collect()
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::qjs;

    use super::*;

    #[test]
    fn the_engine_is_told_from_everything_else() {
        let code = EngineCode::load().unwrap();
        assert!(code.functions.len() > 1000, "{} functions", code.functions.len());
        let of_engine = [
            (qjs::JS_NewRuntime2 as *const (), "JS_NewRuntime2"),
            (qjs::JS_JSONStringify as *const (), "JS_JSONStringify"),
        ];
        for (address, name) in of_engine {
            assert_eq!(code.name_at(address as usize + 4), Some(name));
        }
        let local = code.functions.iter().filter(|f| code.name_at(f.start) == Some("js_array_join")).count();
        assert_eq!(local, 1, "functions that are not exported are known too");
        let foreign = [
            libmimalloc_sys::mi_malloc as *const (),
            libc::malloc as *const (),
            libc::memcpy as *const (),
            EngineCode::load as *const (),
            crate::runtime::create as *const (),
        ];
        for address in foreign {
            assert_eq!(code.name_at(address as usize), None);
        }
        for two in code.functions.windows(2) {
            assert!(two[0].end <= two[1].start || two[0].start == two[1].start, "functions do not overlap");
        }
        assert!(!code.functions.iter().any(|f| code.name_at(f.start).is_some_and(|n| n.starts_with("js_atomics_"))));
    }

    #[test]
    fn a_file_that_the_linker_placed_otherwise_is_not_used() {
        let [first, second] = table::files()[0].anchors;
        let moved = ObjectFile { anchors: [first, (second.0, second.1 + 16)], functions: &[(0, 16, 0)], names: "a\n" };
        assert!(EngineCode::of(&[moved]).is_none());
    }
}
