//! A hint for tests that build multipart bodies in JavaScript, byte by byte. It is given once a run.
//!
//! Such a test is noticed by what it costs: the user has computed for several slices of time since it last waited, and
//! then sends bytes of its own making as a form. Requests that were not computed for so long pay for one look at a
//! number.

use std::sync::atomic::{AtomicBool, Ordering};

use host::SLICE;

use super::body::BodyArg;
use super::params::Params;
use script::Vu;

/// Slices of computing before a request that are worth a hint: a body of 50 kB takes these 10 ms, text and headers do
/// not.
const LONG: u32 = 2;

/// The hint was given in this run.
#[derive(Default)]
struct HintGiven(AtomicBool);

/// Looks at a request that is about to be sent.
#[inline]
pub fn consider(vu: &Vu, body: &BodyArg, params: &Params) {
    if vu.slices_used() >= LONG {
        consider_long(vu, body, params);
    }
}

#[cold]
fn consider_long(vu: &Vu, body: &BodyArg, params: &Params) {
    let has_own_type = body.payload.is_some() && body.content_type.is_none();
    let is_form = |(name, value): &(String, String)| name == "Content-Type" && value.starts_with("multipart/form-data");
    if !has_own_type || !params.headers.iter().any(is_form) {
        return;
    }
    if vu.process::<HintGiven>().0.swap(true, Ordering::Relaxed) {
        return;
    }
    let message = format!(
        "this test computes for {} ms or more before it sends a multipart body: JavaScript that puts bytes together is \
         slow; FormData of onrush/http and http.file send them from where they are, see docs/guides/uploading.md",
        (LONG * SLICE).as_millis()
    );
    vu.log().warn(&message, &[]);
}
