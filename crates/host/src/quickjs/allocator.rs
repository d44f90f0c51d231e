//! Memory from mimalloc: JavaScript's, whatever the rest of the process uses, counted against the user's limit; and
//! Rust's, for a binary that wants it. Tests can have a block refused (`faults`).
//!
//! Thousands of small runtimes with short-lived objects: measured against the system's allocator in
//! `examples/memory.rs`. The engine cuts objects out of arenas of up to 4 KiB, so few of its allocations come here and
//! counting them costs nothing. A block that grows may lie in memory twice for a moment: it must fit twice.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;
use std::rc::Rc;

use rquickjs::allocator::Allocator;

use crate::memory::Memory;
use crate::quickjs::blocks;
use crate::quickjs::faults::{Side, is_refused};
use crate::quickjs::shortage;

/// mimalloc's functions, and the account of the user. Heaps belong to threads, as do users.
pub(crate) struct Mimalloc(pub(crate) Rc<Memory>);

impl Mimalloc {
    /// Counts a block that was just made; null stays uncounted.
    fn counted(&self, block: *mut c_void) -> *mut u8 {
        // SAFETY: a block of mimalloc, or null, whose size is 0.
        self.0.add(unsafe { blocks::usable_size(block) });
        block.cast()
    }

    #[cold]
    fn refused(&self) -> *mut u8 {
        self.0.note_refusal();
        std::ptr::null_mut()
    }
}

// SAFETY: each method hands its arguments to the mimalloc function of that meaning; blocks are aligned to 16 bytes.
unsafe impl Allocator for Mimalloc {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if is_refused(Side::Engine) || !self.0.admits(size) {
            return self.refused();
        }
        // SAFETY: any size may be asked for.
        self.counted(unsafe { blocks::malloc(size) })
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        if is_refused(Side::Engine) {
            return self.refused();
        }
        match count.checked_mul(size) {
            // SAFETY: any size may be asked for.
            Some(size) if self.0.admits(size) => self.counted(unsafe { blocks::zalloc(size) }),
            _ => self.refused(),
        }
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: by the trait's contract the block came from this allocator.
        unsafe {
            let size = blocks::usable_size(block.cast());
            self.0.remove(size);
            // Whatever reads a block that is gone finds no pointer there that leads anywhere.
            if cfg!(test) && !block.is_null() {
                block.write_bytes(0xa5, size);
            }
            blocks::free(block.cast());
        }
    }

    unsafe fn realloc(&mut self, block: *mut u8, new_size: usize) -> *mut u8 {
        // SAFETY: as in `dealloc`; null is fine.
        unsafe {
            let old_size = blocks::usable_size(block.cast());
            if new_size > old_size && (is_refused(Side::Engine) || !self.0.admits(new_size)) {
                return self.refused();
            }
            let moved = blocks::realloc(block.cast(), new_size);
            if !moved.is_null() {
                self.0.remove(old_size);
            }
            self.counted(moved)
        }
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: as in `dealloc`.
        unsafe { blocks::usable_size(block.cast()) }
    }
}

/// mimalloc as the allocator of Rust code.
///
/// Unlike the one of the crate `mimalloc`, it asks for an alignment only where a block does not have it anyway. Where
/// one is asked for, mimalloc 3 looks for a page of that size, makes none when there is none, and takes a larger block
/// the long way round, each time: 80 instructions more an allocation, for most sizes.
#[derive(Debug)]
pub struct RustAllocator;

/// Blocks of this size and more are aligned so; smaller ones to their size.
const ALIGNED: usize = 16;

/// Whether each block of this size has this alignment.
const fn is_aligned_anyway(size: usize, alignment: usize) -> bool {
    alignment <= ALIGNED && alignment <= size
}

/// A block, or null with a note that it was refused.
#[inline]
fn or_refused(block: *mut u8) -> *mut u8 {
    if block.is_null() { refused() } else { block }
}

#[cold]
fn refused() -> *mut u8 {
    shortage::note_refused();
    std::ptr::null_mut()
}

// SAFETY: each method hands its arguments to the mimalloc function of that meaning; the functions without an alignment
// give blocks that have it (`is_aligned_anyway`).
unsafe impl GlobalAlloc for RustAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, alignment) = (layout.size(), layout.align());
        if is_refused(Side::Rust) {
            return refused();
        }
        // SAFETY: any size may be asked for, and an alignment is a power of two.
        let block = unsafe {
            match is_aligned_anyway(size, alignment) {
                true => blocks::malloc(size),
                false => blocks::malloc_aligned(size, alignment),
            }
        };
        or_refused(block.cast())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, alignment) = (layout.size(), layout.align());
        if is_refused(Side::Rust) {
            return refused();
        }
        // SAFETY: as in `alloc`.
        let block = unsafe {
            match is_aligned_anyway(size, alignment) {
                true => blocks::zalloc(size),
                false => blocks::zalloc_aligned(size, alignment),
            }
        };
        or_refused(block.cast())
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
        // SAFETY: by the trait's contract the block came from this allocator.
        unsafe { blocks::free(block.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if is_refused(Side::Rust) {
            return refused();
        }
        // SAFETY: as in `dealloc` and `alloc`; what is aligned anyway stays so at any size that is.
        let block = unsafe {
            match is_aligned_anyway(new_size, layout.align()) {
                true => blocks::realloc(block.cast(), new_size),
                false => blocks::realloc_aligned(block.cast(), new_size, layout.align()),
            }
        };
        or_refused(block.cast())
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::qjs;

    use super::*;
    use crate::memory::Memory;
    use crate::runtime;

    #[test]
    fn blocks_for_rust_have_the_alignment_that_was_asked_for() {
        for alignment in (0..8).map(|power| 1 << power) {
            for size in 1..600 {
                let layout = Layout::from_size_align(size, alignment).unwrap();
                let grown = Layout::from_size_align(size * 3, alignment).unwrap();
                // SAFETY: sizes are not 0; each block is given back once, with the layout that it has.
                unsafe {
                    let held: Vec<_> = (0..3).map(|_| RustAllocator.alloc(layout)).collect();
                    let zeroed = RustAllocator.alloc_zeroed(layout);
                    assert!(std::slice::from_raw_parts(zeroed, size).iter().all(|byte| *byte == 0));
                    zeroed.write_bytes(7, size);
                    let moved = RustAllocator.realloc(zeroed, layout, grown.size());
                    assert!(std::slice::from_raw_parts(moved, size).iter().all(|byte| *byte == 7));
                    for block in held.iter().chain([&moved]) {
                        assert_eq!(block.addr() % alignment, 0, "{size} bytes, aligned to {alignment}");
                    }
                    held.into_iter().for_each(|block| RustAllocator.dealloc(block, layout));
                    RustAllocator.dealloc(moved, grown);
                }
            }
        }
    }

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

    /// Blocks of all small sizes, of which those that are freed first are far apart.
    const SCATTERED: &str = "(() => { const all = []; \
        for (let size = 1; size < 60; size++) all.push(Array.from({ length: 1000 }, () => 'x'.repeat(size * 8))); \
        for (const some of all) for (let i = 0; i < 1000; i += 120) some[i] = null; return all.length })()";

    #[test]
    #[cfg_attr(feature = "system-allocator", ignore = "how much arenas hold depends on mimalloc's sizes")]
    fn recent_blocks_are_in_the_way_of_nothing() {
        const LIMIT: usize = 64 << 20;
        let memory = Rc::new(Memory::default());
        memory.set_limit(LIMIT);
        let (_runtime, context) = runtime::create(&memory).unwrap();
        context.with(|ctx| {
            let scatter = || assert_eq!(ctx.eval::<u32, _>(SCATTERED).unwrap(), 59);
            scatter();
            ctx.run_gc();
            let free = memory.room();
            scatter();
            let held = free - memory.room();
            assert!(held > 100 << 10, "recent blocks hold {held} bytes of arenas");
            ctx.run_gc();
            assert!(free - memory.room() < held / 4, "a collection leaves {} bytes of {held}", free - memory.room());
            scatter();
            // More than there is beside those arenas.
            let large = format!("'a'.repeat({}).length", memory.room() + held / 2);
            assert!(ctx.eval::<u32, _>(large).is_ok(), "refused, with {held} bytes in arenas of recent blocks");
        });
    }

    #[test]
    fn recent_blocks_count_as_free() {
        let (_runtime, context) = runtime::create(&Rc::default()).unwrap();
        context.with(|ctx| {
            let counted = || {
                assert_eq!(ctx.eval::<u32, _>(SCATTERED).unwrap(), 59);
                ctx.run_gc();
                // SAFETY: context and runtime are live; the usage is written only.
                unsafe {
                    let mut usage = std::mem::zeroed();
                    qjs::JS_ComputeMemoryUsage(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), &mut usage);
                    (usage.malloc_count, usage.malloc_size)
                }
            };
            counted();
            assert_eq!(counted(), counted());
        });
    }
}
