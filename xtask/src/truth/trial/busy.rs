//! Programs that do nothing but compute, so that the machine is busy.

use std::path::Path;
use std::process::{Child, Stdio};

use super::referee::pinned;

/// They run until this is dropped.
pub struct Spinners(Vec<Child>);

impl Spinners {
    /// So many, on one core or on any.
    pub fn start(count: usize, core: Option<usize>) -> Result<Spinners, String> {
        let mut all = Spinners(Vec::new());
        for _ in 0..count {
            let mut command = pinned(core, Path::new("sh"));
            command.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).stdout(Stdio::null());
            all.0.push(command.spawn().map_err(|error| format!("cannot start sh: {error}"))?);
        }
        Ok(all)
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
