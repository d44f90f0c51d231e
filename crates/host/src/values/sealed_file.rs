//! A file's content as buffers of many users: one copy in memory, which each user maps privately.
//!
//! Every buffer is an ordinary, writable ArrayBuffer over pages that all share until one writes. What becomes of the
//! file later changes nothing: mapped itself and truncated, it would end the process with SIGBUS.

use std::fs::File;
use std::io;

use memmap2::{MmapMut, MmapOptions};
use rquickjs::{Ctx, Result, Value};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::values::bytes;

/// A copy of a file, in memory, that nobody can change any more.
#[derive(Debug)]
pub struct SealedFile {
    file: File,
    is_empty: bool,
}

impl SealedFile {
    /// Of what is left to be read of the file.
    pub fn copy_of(mut file: &File) -> io::Result<SealedFile> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut copy = File::from(memfd_create(c"onrush-open", flags)?);
        let length = io::copy(&mut file, &mut copy)?;
        fcntl_add_seals(&copy, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)?;
        Ok(SealedFile { file: copy, is_empty: length == 0 })
    }

    /// Maps the content.
    pub fn map(&self) -> io::Result<Mapping> {
        if self.is_empty {
            return Ok(Mapping(None));
        }
        // SAFETY: the file is sealed, so it neither shrinks nor changes under the mapping, which is private.
        unsafe { MmapOptions::new().map_copy(&self.file) }.map(|map| Mapping(Some(map)))
    }
}

/// The content, mapped for one user.
pub struct Mapping(Option<MmapMut>);

impl Mapping {
    /// An ArrayBuffer whose memory is the mapping, unmapped when the buffer is collected.
    pub fn into_buffer<'js>(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let Some(map) = self.0 else { return Ok(bytes::array_buffer(ctx, Vec::new())?.into_value()) };
        let mut map = Box::new(map);
        let memory = (map.as_mut_ptr(), map.len());
        // SAFETY: the memory stays mapped, writable and in place until its owner is dropped.
        unsafe { bytes::array_buffer_over(ctx, memory, map) }
    }
}
