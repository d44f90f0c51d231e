//! The built-in modules of the binary: those of `script`, and the extensions it was built with.

use script::builtins::Builtins;
use script::modules;

/// All of them.
pub static BUILTINS: Builtins =
    Builtins { left_out: extensions::LEFT_OUT, ..modules::builtins(&[modules::MODULES, extensions::MODULES]) };
