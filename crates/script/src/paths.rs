//! Paths that a script names, and where they start.

use std::path::{Path, PathBuf};

use host::js::Ctx;

use crate::loader::resolve;
use crate::shared::Shared;
use crate::vu::Vu;

/// Relative paths start at the module that calls. A native function has no stack frame of its own: level 0 is the
/// caller.
pub fn absolute(ctx: &Ctx<'_>, vu: &Vu, path: &str) -> PathBuf {
    let path = Path::new(path.strip_prefix("file://").unwrap_or(path));
    let caller = ctx.script_or_module_name(0).and_then(|name| name.to_string().ok()).unwrap_or_default();
    let directory = caller.strip_prefix("file://").and_then(|name| Path::new(name).parent());
    resolve::normalize(&directory.unwrap_or(&vu.shared.modules.cwd).join(path))
}

/// Relative paths start at the script that was given to the command, whichever module calls: k6 reads gRPC's files so.
pub fn beside_script(vu: &Vu, path: &str) -> PathBuf {
    from_script(&vu.shared, path)
}

/// The same without a user.
pub(crate) fn from_script(shared: &Shared, path: &str) -> PathBuf {
    let path = Path::new(path.strip_prefix("file://").unwrap_or(path));
    let directory = shared.entry().strip_prefix("file://").and_then(|name| Path::new(name).parent());
    resolve::normalize(&directory.unwrap_or(&shared.modules.cwd).join(path))
}
