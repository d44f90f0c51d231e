//! What `check` and `group` refuse alike.

use host::Phase;
use host::js::{Ctx, Result};

use script::Vu;
use script::go_error;

/// Refuses to record in init code, where there is no iteration to record for.
pub fn refuse_in_init(ctx: &Ctx<'_>, vu: &Vu, function: &str) -> Result<()> {
    match vu.phase() {
        Phase::Init => {
            let message = format!("Using {function}() in the init context is not supported");
            Err(go_error::throw(ctx, &message))
        }
        _ => Ok(()),
    }
}

/// Refuses names that would look like a path of groups.
pub fn refuse_separator(ctx: &Ctx<'_>, name: &str) -> Result<()> {
    match name.contains("::") {
        true => Err(go_error::throw(ctx, "group and check names may not contain '::'")),
        false => Ok(()),
    }
}
