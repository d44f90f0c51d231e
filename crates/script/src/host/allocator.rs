//! JavaScript memory from mimalloc, whatever the rest of the process uses.
//!
//! Thousands of small runtimes with short-lived objects: measured against the system's allocator in `examples/memory.rs`.

use std::ffi::c_void;

use rquickjs::allocator::Allocator;

/// mimalloc's functions. It keeps no state of its own: heaps belong to threads, as do users.
pub(crate) struct Mimalloc;

unsafe extern "C" {
    /// Exported by the library and missing from the bindings' default set.
    fn mi_usable_size(block: *const c_void) -> usize;
}

// SAFETY: each method hands its arguments to the mimalloc function of that meaning; blocks are aligned to 16 bytes.
unsafe impl Allocator for Mimalloc {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        // SAFETY: any size may be asked for.
        unsafe { libmimalloc_sys::mi_malloc(size).cast() }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        // SAFETY: any size may be asked for.
        count.checked_mul(size).map_or(std::ptr::null_mut(), |size| unsafe { libmimalloc_sys::mi_zalloc(size).cast() })
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: by the trait's contract the block came from this allocator.
        unsafe { libmimalloc_sys::mi_free(block.cast()) }
    }

    unsafe fn realloc(&mut self, block: *mut u8, new_size: usize) -> *mut u8 {
        // SAFETY: as in `dealloc`; null is fine.
        unsafe { libmimalloc_sys::mi_realloc(block.cast(), new_size).cast() }
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: as in `dealloc`.
        unsafe { mi_usable_size(block.cast()) }
    }
}
