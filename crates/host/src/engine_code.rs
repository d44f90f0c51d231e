//! Which machine code of this process is QuickJS's: the functions of its C files, by the symbol table of the running
//! program.
//!
//! Needed to know whether a thread that was interrupted stood in the engine's own code, and to name the native function
//! that does not end. The table is exact: the local symbols behind the name of each source file, and the exported ones
//! by their prefixes. So nothing is assumed about where the linker puts functions. A stripped program has no such
//! table.

use std::fs::File;
use std::sync::OnceLock;

use memmap2::Mmap;
use rquickjs::qjs;

/// The C files of the engine.
const FILES: [&[u8]; 4] = [b"quickjs.c", b"libregexp.c", b"libunicode.c", b"dtoa.c"];

/// How its exported functions begin.
const PREFIXES: [&[u8]; 7] = [b"JS_", b"__JS_", b"js_", b"lre_", b"unicode_", b"u32toa", b"u64toa"];

/// Functions that hold the mutex of `Atomics`, which all runtimes of the process share.
const LOCKING: &[u8] = b"js_atomics_";

const ENTRY: usize = 24;
const FUNCTION: u8 = 2;
const FILE: u8 = 4;

/// One function's code.
#[derive(Clone, Copy)]
struct Function {
    start: usize,
    end: usize,
    /// Where its name is in `names`.
    name: usize,
}

/// The functions of the engine, by address.
pub(crate) struct EngineCode {
    functions: Vec<Function>,
    names: Vec<u8>,
}

static CODE: OnceLock<Option<EngineCode>> = OnceLock::new();

impl EngineCode {
    /// Reads the table if nobody has; nothing when the program has none. Takes some milliseconds, once.
    pub fn load() -> Option<&'static EngineCode> {
        CODE.get_or_init(|| EngineCode::read(&map_self()?)).as_ref()
    }

    /// The table, if it was read. Safe to call in a signal handler.
    pub fn loaded() -> Option<&'static EngineCode> {
        CODE.get().and_then(Option::as_ref)
    }

    /// Whether the instruction at this address is the engine's. Safe to call in a signal handler.
    pub fn contains(&self, address: usize) -> bool {
        self.function_at(address).is_some()
    }

    /// The name of the C function at this address.
    pub fn name_at(&self, address: usize) -> Option<&str> {
        let name = self.names.get(self.function_at(address)?.name..)?;
        std::str::from_utf8(name.split(|byte| *byte == 0).next()?).ok()
    }

    fn function_at(&self, address: usize) -> Option<&Function> {
        let after = self.functions.partition_point(|function| function.start <= address);
        self.functions.get(after.checked_sub(1)?).filter(|function| address < function.end)
    }

    fn read(image: &[u8]) -> Option<EngineCode> {
        let (symbols, names) = tables(image)?;
        let name_at = |at: usize| names.get(at..).and_then(|rest| rest.split(|byte| *byte == 0).next());
        let (mut code, mut is_local, mut known) =
            (EngineCode { functions: Vec::new(), names: Vec::new() }, false, None);
        for entry in symbols.chunks_exact(ENTRY) {
            let (name, kind, is_exported) = (word(entry, 0, 4)?, entry[4] & 15, entry[4] >> 4 != 0);
            let text = name_at(name)?;
            if kind == FILE {
                is_local = FILES.contains(&text);
            }
            let is_ours = match is_exported {
                true => PREFIXES.iter().any(|prefix| text.starts_with(prefix)),
                false => is_local,
            };
            let (start, length) = (word(entry, 8, 8)?, word(entry, 16, 8)?);
            if kind == FUNCTION && is_ours && length > 0 && !text.starts_with(LOCKING) {
                code.functions.push(Function { start, end: start + length, name: code.names.len() });
                code.names.extend_from_slice(text);
                code.names.push(0);
            }
            if text == b"JS_NewRuntime2" {
                known = Some(start);
            }
        }
        // Where the program was loaded: addresses of the table count from there.
        let bias = (qjs::JS_NewRuntime2 as *const () as usize).checked_sub(known?)?;
        for function in &mut code.functions {
            function.start += bias;
            function.end += bias;
        }
        code.functions.sort_unstable_by_key(|function| function.start);
        Some(code)
    }
}

fn map_self() -> Option<Mmap> {
    let file = File::open("/proc/self/exe").ok()?;
    // SAFETY: the file of a running program cannot be written to (ETXTBSY).
    unsafe { Mmap::map(&file) }.ok()
}

/// The entries of `.symtab` and the names they point into, of a 64-bit ELF file.
fn tables(image: &[u8]) -> Option<(&[u8], &[u8])> {
    const SYMTAB: usize = 2;
    if image.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let (at, size, count) = (word(image, 0x28, 8)?, word(image, 0x3A, 2)?, word(image, 0x3C, 2)?);
    let section = |index: usize| image.get(at + index * size..at + (index + 1) * size);
    let content = |header: &[u8]| {
        let (offset, length) = (word(header, 0x18, 8)?, word(header, 0x20, 8)?);
        image.get(offset..offset.checked_add(length)?)
    };
    let table = (0..count).filter_map(section).find(|header| word(header, 4, 4) == Some(SYMTAB))?;
    Some((content(table)?, content(section(word(table, 0x28, 4)?)?)?))
}

/// A number of `size` bytes in the byte order of the machine, whose file this is.
fn word(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let mut number = [0; 8];
    number[..size].copy_from_slice(bytes.get(at..at + size)?);
    Some(u64::from_le_bytes(number) as usize)
}

#[cfg(test)]
mod tests {
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
    fn what_is_no_program_has_no_table() {
        for image in [&b""[..], b"\x7fELF\x02", &[0; 200], b"\x7fELF\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"] {
            assert!(EngineCode::read(image).is_none());
        }
    }
}
