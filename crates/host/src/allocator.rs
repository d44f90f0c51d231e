//! JavaScript memory from mimalloc, whatever the rest of the process uses, counted against the user's limit.
//!
//! Thousands of small runtimes with short-lived objects: measured against the system's allocator in
//! `examples/memory.rs`. The engine cuts objects out of arenas of up to 4 KiB, so few of its allocations come here and
//! counting them costs nothing. A block that grows may lie in memory twice for a moment: it must fit twice.

use std::ffi::c_void;
use std::rc::Rc;

use rquickjs::allocator::Allocator;

use crate::memory::Memory;

/// mimalloc's functions, and the account of the user. Heaps belong to threads, as do users.
pub(crate) struct Mimalloc(pub(crate) Rc<Memory>);

unsafe extern "C" {
    /// Exported by the library and missing from the bindings' default set.
    fn mi_usable_size(block: *const c_void) -> usize;
}

impl Mimalloc {
    /// Counts a block that was just made; null stays uncounted.
    fn counted(&self, block: *mut c_void) -> *mut u8 {
        // SAFETY: a block of mimalloc, or null, whose size is 0.
        self.0.add(unsafe { mi_usable_size(block) });
        block.cast()
    }
}

// SAFETY: each method hands its arguments to the mimalloc function of that meaning; blocks are aligned to 16 bytes.
unsafe impl Allocator for Mimalloc {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.0.admits(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: any size may be asked for.
        self.counted(unsafe { libmimalloc_sys::mi_malloc(size) })
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match count.checked_mul(size) {
            // SAFETY: any size may be asked for.
            Some(size) if self.0.admits(size) => self.counted(unsafe { libmimalloc_sys::mi_zalloc(size) }),
            _ => std::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: by the trait's contract the block came from this allocator.
        unsafe {
            self.0.remove(mi_usable_size(block.cast()));
            libmimalloc_sys::mi_free(block.cast());
        }
    }

    unsafe fn realloc(&mut self, block: *mut u8, new_size: usize) -> *mut u8 {
        // SAFETY: as in `dealloc`; null is fine.
        unsafe {
            let old_size = mi_usable_size(block.cast());
            if new_size > old_size && !self.0.admits(new_size) {
                return std::ptr::null_mut();
            }
            let moved = libmimalloc_sys::mi_realloc(block.cast(), new_size);
            if !moved.is_null() {
                self.0.remove(old_size);
            }
            self.counted(moved)
        }
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: as in `dealloc`.
        unsafe { mi_usable_size(block.cast()) }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use crate::memory::Memory;
    use crate::runtime;

    #[test]
    fn blocks_count_and_what_native_code_holds_leaves_less_for_them() {
        let memory = Rc::new(Memory::default());
        memory.set_limit(8 << 20);
        {
            let (_runtime, context) = runtime::create(&memory).unwrap();
            context.with(|ctx| {
                let before = memory.room();
                let grows = "'a'.repeat(3 << 20).length";
                assert_eq!(ctx.eval::<u32, _>(grows).unwrap(), 3 << 20);
                assert!(before - memory.room() < 64 << 10, "the string is gone; arenas that it brought along stay");
                let held = memory.reserve(6 << 20).unwrap();
                assert!(ctx.eval::<u32, _>(grows).is_err());
                drop(held);
                let thrown = "try { const a = []; for (;;) a.push(a.length) } catch (e) { `${e}` }";
                assert_eq!(ctx.eval::<String, _>(thrown).unwrap(), "InternalError: out of memory");
            });
        }
        assert_eq!(memory.room(), 8 << 20, "all blocks are gone");
    }
}
