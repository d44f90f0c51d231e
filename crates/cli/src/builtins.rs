//! The built-in modules of the binary: those of `modules`, and the extensions it was built with.

use script::builtins::Builtins;

/// All of them.
pub static BUILTINS: Builtins =
    Builtins { left_out: extensions::LEFT_OUT, ..modules::builtins(&[modules::MODULES, extensions::MODULES]) };
