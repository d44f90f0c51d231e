//! What an error of a library comes down to.

/// The error at the bottom of its causes, in words: what lies around it repeats the request.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
