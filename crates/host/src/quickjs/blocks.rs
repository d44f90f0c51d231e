//! Where blocks of memory come from: mimalloc; with the feature `system-allocator` the C library, whose blocks
//! sanitizers watch. What mimalloc has been given back they cannot tell from what is held.

#[cfg(not(feature = "system-allocator"))]
pub(super) use libmimalloc_sys::{
    mi_free as free, mi_malloc as malloc, mi_malloc_aligned as malloc_aligned, mi_realloc as realloc,
    mi_realloc_aligned as realloc_aligned, mi_zalloc as zalloc, mi_zalloc_aligned as zalloc_aligned,
};
#[cfg(feature = "system-allocator")]
pub(super) use system::{free, malloc, malloc_aligned, realloc, realloc_aligned, usable_size, zalloc, zalloc_aligned};

#[cfg(not(feature = "system-allocator"))]
unsafe extern "C" {
    /// Exported by the library and missing from the bindings' default set.
    #[link_name = "mi_usable_size"]
    pub(super) fn usable_size(block: *const std::ffi::c_void) -> usize;
}

#[cfg(feature = "system-allocator")]
mod system {
    use std::ffi::c_void;

    pub(crate) use libc::{free, malloc, realloc};

    pub(crate) unsafe fn usable_size(block: *const c_void) -> usize {
        // SAFETY: by contract a block of the C library, or null.
        unsafe { libc::malloc_usable_size(block.cast_mut()) }
    }

    pub(crate) unsafe fn zalloc(size: usize) -> *mut c_void {
        // SAFETY: any size may be asked for.
        unsafe { libc::calloc(1, size) }
    }

    pub(crate) unsafe fn malloc_aligned(size: usize, alignment: usize) -> *mut c_void {
        let mut block = std::ptr::null_mut();
        // SAFETY: the alignment is a power of two and, by `max`, no less than a pointer's.
        match unsafe { libc::posix_memalign(&mut block, alignment.max(size_of::<usize>()), size) } {
            0 => block,
            _ => std::ptr::null_mut(),
        }
    }

    pub(crate) unsafe fn zalloc_aligned(size: usize, alignment: usize) -> *mut c_void {
        // SAFETY: as in `malloc_aligned`; the block has so many bytes.
        unsafe {
            let block = malloc_aligned(size, alignment);
            if !block.is_null() {
                block.write_bytes(0, size);
            }
            block
        }
    }

    pub(crate) unsafe fn realloc_aligned(block: *mut c_void, size: usize, alignment: usize) -> *mut c_void {
        // SAFETY: by contract a live block; no more is copied than either has.
        unsafe {
            let moved = malloc_aligned(size, alignment);
            if !moved.is_null() {
                block.copy_to_nonoverlapping(moved, usable_size(block).min(size));
                free(block);
            }
            moved
        }
    }
}
