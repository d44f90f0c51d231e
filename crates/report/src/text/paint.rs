//! Terminal colours, or none.
//!
//! The roles are those of k6's summary (value, extra, dots, good, bad); the codes are plain ANSI, so that the reader's
//! terminal theme decides how they look. Taking the colours away leaves the uncoloured summary, byte for byte.

/// Puts colours around text when the summary goes to a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    pub on: bool,
}

impl Paint {
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }
    pub fn good(self, text: &str) -> String {
        self.with("32", text)
    }
    pub fn bad(self, text: &str) -> String {
        self.with("31", text)
    }
    pub fn warning(self, text: &str) -> String {
        self.with("33", text)
    }
    pub fn plain(self, text: &str) -> String {
        self.with("37", text)
    }
    pub fn value(self, text: &str) -> String {
        self.with("36", text)
    }
    pub fn extra(self, text: &str) -> String {
        self.with("2;36", text)
    }
    pub fn dots(self, text: &str) -> String {
        self.with("2;37", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
