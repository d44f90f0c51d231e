//! What libFuzzer drives: its last argument names a subject, whose check reads every input.
//!
//! The check is kept by its thread, because a subject may hold a runtime. A broken promise is a panic.

#![no_main]

use std::cell::RefCell;

use fuzz::{Check, check_of};

thread_local! {
    static CHECK: RefCell<Option<Check>> = const { RefCell::new(None) };
}

fn read(input: &[u8]) -> Result<(), String> {
    CHECK.with_borrow_mut(|check| {
        if check.is_none() {
            let name = std::env::args().next_back().unwrap_or_default();
            *check = Some(check_of(&name)?);
        }
        check.as_mut().map_or(Ok(()), |check| check(input))
    })
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = read(input) {
        panic!("{broken}");
    }
});
