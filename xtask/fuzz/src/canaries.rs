//! Planted subjects by which the driver is tried: one panics, one hangs. They run only when named.

use std::time::Duration;

use super::subjects::Subject;

/// The planted subjects; run only when named.
pub const CANARIES: &[Subject] = &[
    Subject {
        name: "canary-panic",
        examples: &["sing"],
        words: &["cat"],
        start: || {
            Ok(Box::new(|input| {
                assert!(!input.windows(3).any(|part| part == b"cat"), "the canary is gone");
                Ok(())
            }))
        },
    },
    Subject {
        name: "canary-hang",
        examples: &["sing"],
        words: &["cat"],
        start: || {
            Ok(Box::new(|input| {
                while input.windows(3).any(|part| part == b"cat") {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Ok(())
            }))
        },
    },
];
