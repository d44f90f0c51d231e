//! Access logs.

/// Whether a line is one.
pub fn is_line(line: &str) -> bool {
    line.contains("] \"")
}
