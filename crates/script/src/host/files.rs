//! `open`: files of the init code, read once for the process.
//!
//! Text is kept once and becomes a string in each user. Of `open(path, "b")` the process keeps one copy in memory, which it maps
//! privately: each user gets an ordinary, writable ArrayBuffer over pages that all share until one writes. As in k6, what becomes
//! of the file later changes nothing (the file itself mapped, truncating it would end the process with SIGBUS), and a file that
//! the first run of the init code did not open cannot be opened by a later one. Refuses what is no regular file.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use memmap2::{MmapMut, MmapOptions};
use rquickjs::function::Opt;
use rquickjs::{Ctx, Value};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use super::{bytes, go_error};
use crate::loader::resolve;
use crate::vu::{Phase, Vu};

/// Files that the script has opened, by absolute path.
#[derive(Default)]
pub(crate) struct Files {
    known: Mutex<HashMap<PathBuf, Arc<Opened>>>,
}

struct Opened {
    file: File,
    text: OnceLock<Arc<str>>,
    copy: Mutex<Option<Arc<File>>>,
}

impl Files {
    fn open(&self, path: &Path, sealed: bool) -> Result<Arc<Opened>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = known.get(path) {
            return Ok(opened.clone());
        }
        if sealed && path.exists() {
            return Err(format!(
                "cannot open {}: the first run of the init code did not open it, and later runs may not add files; \
                 open it unconditionally",
                path.display()
            ));
        }
        let file = open_regular(path).map_err(|unopened| match unopened {
            Unopened::Failed(error) => describe(path, &error),
            Unopened::Directory => format!("open() can't be used with directories, path: {path:?}"),
            Unopened::Special => format!("open() can't be used with pipes, sockets and devices, path: {path:?}"),
        })?;
        let opened = Arc::new(Opened { file, text: OnceLock::new(), copy: Mutex::default() });
        known.insert(path.to_path_buf(), opened.clone());
        Ok(opened)
    }
}

/// Why a file was not opened.
pub(crate) enum Unopened {
    /// What the system said.
    Failed(std::io::Error),
    /// It is a directory.
    Directory,
    /// It is a pipe, a socket or a device.
    Special,
}

/// Opens a regular file. What it is, it asks before: opening a pipe waits for its other end, and reading a device may
/// never end.
pub(crate) fn open_regular(path: &Path) -> Result<File, Unopened> {
    let found = std::fs::metadata(path).map_err(Unopened::Failed)?;
    match () {
        () if found.is_dir() => Err(Unopened::Directory),
        () if !found.is_file() => Err(Unopened::Special),
        () => File::open(path).map_err(Unopened::Failed),
    }
}

fn describe(path: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("stat {}: no such file or directory", path.display()),
        std::io::ErrorKind::PermissionDenied => format!("open {}: permission denied", path.display()),
        _ => format!("open {}: {error}", path.display()),
    }
}

impl Opened {
    fn text(&self, path: &Path) -> Result<Arc<str>, String> {
        if let Some(text) = self.text.get() {
            return Ok(text.clone());
        }
        let bytes = std::fs::read(path).map_err(|error| describe(path, &error))?;
        let text: Arc<str> = Arc::from(String::from_utf8_lossy(&bytes));
        Ok(self.text.get_or_init(|| text).clone())
    }

    fn map(&self, path: &Path) -> Result<Option<MmapMut>, String> {
        let copy = self.copy(path)?;
        if copy.metadata().map_err(|error| describe(path, &error))?.len() == 0 {
            return Ok(None);
        }
        // SAFETY: the file is sealed, so it neither shrinks nor changes under the mapping, which is private.
        let map = unsafe { MmapOptions::new().map_copy(&*copy) };
        map.map(Some).map_err(|error| describe(path, &error))
    }

    /// The process's copy of the file, as it was when it was first asked for.
    fn copy(&self, path: &Path) -> Result<Arc<File>, String> {
        // Held while copying: a second user that comes meanwhile waits instead of making a copy of its own.
        let mut copy = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        if copy.is_none() {
            let made = copied(&self.file).map_err(|error| format!("read {}: {error}", path.display()))?;
            *copy = Some(Arc::new(made));
        }
        Ok(copy.clone().expect("it was made just now"))
    }
}

/// A file in memory with the same content, which nobody can change any more.
fn copied(mut file: &File) -> std::io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut copy = File::from(memfd_create(c"onrush-open", flags)?);
    std::io::copy(&mut file, &mut copy)?;
    fcntl_add_seals(&copy, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)?;
    Ok(copy)
}

/// The global function `open`.
pub(crate) fn open<'js>(ctx: Ctx<'js>, path: Opt<Value<'js>>, mode: Opt<Value<'js>>) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() != Phase::Init {
        let message = "the \"open\" function can only be used in the init code, outside of functions";
        return Err(go_error::throw(&ctx, message));
    }
    let path = path.0.map(|value| bytes::text(&value)).transpose()?.flatten().unwrap_or_default();
    if path.is_empty() {
        return Err(go_error::throw(&ctx, "open() can't be used with an empty filename"));
    }
    let mode = mode.0.map(|value| bytes::text(&value)).transpose()?.flatten().unwrap_or_default();
    let path = absolute(&ctx, &vu, &path);
    let throw = |message: String| go_error::throw(&ctx, &message);
    let opened = vu.shared.files.open(&path, vu.shared.modules.is_sealed()).map_err(throw)?;
    if mode == "b" {
        let map = opened.map(&path).map_err(throw)?;
        return map
            .map_or_else(|| Ok(bytes::array_buffer(&ctx, Vec::new())?.into_value()), |map| buffer_over(&ctx, map));
    }
    let text = opened.text(&path).map_err(throw)?;
    Ok(rquickjs::String::from_str(ctx.clone(), &text)?.into_value())
}

/// Relative paths start at the module that calls. A native function has no stack frame of its own: level 0 is the caller.
pub(crate) fn absolute(ctx: &Ctx<'_>, vu: &Vu, path: &str) -> PathBuf {
    let path = Path::new(path.strip_prefix("file://").unwrap_or(path));
    let caller = ctx.script_or_module_name(0).and_then(|name| name.to_string().ok()).unwrap_or_default();
    let directory = caller.strip_prefix("file://").and_then(|name| Path::new(name).parent());
    resolve::normalize(&directory.unwrap_or(&vu.shared.modules.cwd).join(path))
}

/// An ArrayBuffer whose memory is a private mapping, unmapped when the buffer is collected.
fn buffer_over<'js>(ctx: &Ctx<'js>, map: MmapMut) -> rquickjs::Result<Value<'js>> {
    let mut map = Box::new(map);
    let memory = (map.as_mut_ptr(), map.len());
    // SAFETY: the memory stays mapped, writable and in place until its owner is dropped.
    unsafe { bytes::array_buffer_over(ctx, memory, map) }
}
