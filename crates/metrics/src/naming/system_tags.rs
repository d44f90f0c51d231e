//! The tags that the tool itself puts on samples, and which of them are switched on.
//!
//! One list gives names, defaults and the set. `vu` and `iter` are known but are metadata: they go to outputs with the
//! sample and never divide a metric, so no threshold can ask for them.

use std::fmt;

use units::suggest;

macro_rules! system_tags {
    ($($variant:ident = $name:literal, $default:literal, $doc:literal;)*) => {
        /// A tag that the tool itself may put on samples.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SystemTag { $(#[doc = $doc] $variant),* }

        impl SystemTag {
            /// Every system tag.
            pub const ALL: &[SystemTag] = &[$(SystemTag::$variant),*];

            /// Its name, as scripts and options write it.
            pub const fn name(self) -> &'static str {
                match self { $(SystemTag::$variant => $name),* }
            }

            const fn is_default(self) -> bool {
                match self { $(SystemTag::$variant => $default),* }
            }
        }
    };
}

system_tags! {
    Proto = "proto", true, "Protocol of the answer, `HTTP/1.1`.";
    Subproto = "subproto", true, "WebSocket subprotocol.";
    Status = "status", true, "Status code, `0` when there was no answer.";
    Method = "method", true, "Request method.";
    Url = "url", true, "Address asked for, or the name given for it.";
    Name = "name", true, "Name given to the request, else its address.";
    Group = "group", true, "Path of the group, empty at the root.";
    Check = "check", true, "Name of the check.";
    Error = "error", true, "Text of the failure.";
    ErrorCode = "error_code", true, "Number of the failure.";
    TlsVersion = "tls_version", true, "`tls1.3`.";
    Scenario = "scenario", true, "Scenario of the iteration.";
    Service = "service", true, "gRPC service.";
    ExpectedResponse = "expected_response", true, "Whether the answer was an expected one.";
    Iter = "iter", false, "Number of the iteration (metadata).";
    Vu = "vu", false, "Number of the virtual user (metadata).";
    OcspStatus = "ocsp_status", false, "Stapled OCSP status.";
    Ip = "ip", false, "Address of the peer.";
}

impl SystemTag {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The system tags that are switched on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SystemTags(u32);

impl Default for SystemTags {
    /// k6's default set.
    fn default() -> Self {
        let on = SystemTag::ALL.iter().filter(|tag| tag.is_default());
        SystemTags(on.fold(0, |bits, tag| bits | tag.bit()))
    }
}

impl fmt::Debug for SystemTags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(SystemTag::name)).finish()
    }
}

/// A name that is no system tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSystemTag(pub String);

impl fmt::Display for UnknownSystemTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = SystemTag::ALL.iter().map(|tag| tag.name());
        let hint = suggest::hint(&self.0, known.clone());
        let known: Vec<&str> = known.collect();
        write!(f, "unknown system tag '{}'{hint} (expected any of {})", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownSystemTag {}

impl SystemTags {
    /// The set of these names. Empty names are passed over, so that an empty list switches everything off.
    pub fn parse<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self, UnknownSystemTag> {
        let mut bits = 0;
        for name in names {
            let name = name.as_ref().trim();
            if name.is_empty() {
                continue;
            }
            let found = SystemTag::ALL.iter().find(|tag| tag.name() == name);
            bits |= found.ok_or_else(|| UnknownSystemTag(name.to_owned()))?.bit();
        }
        Ok(SystemTags(bits))
    }

    /// Whether the tag of this name is on.
    pub fn contains(self, name: &str) -> bool {
        self.iter().any(|tag| tag.name() == name)
    }

    /// Whether a tag is on.
    pub const fn has(self, tag: SystemTag) -> bool {
        self.0 & tag.bit() != 0
    }

    /// The tags that are on.
    pub fn iter(self) -> impl Iterator<Item = SystemTag> {
        SystemTag::ALL.iter().copied().filter(move |tag| self.has(*tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_set_is_that_of_k6() {
        let off: Vec<_> =
            SystemTag::ALL.iter().filter(|tag| !SystemTags::default().has(**tag)).map(|t| t.name()).collect();
        assert_eq!(off, ["iter", "vu", "ocsp_status", "ip"]);
    }

    #[test]
    fn parses_a_list() {
        let set = SystemTags::parse(["status", " ip ", ""]).unwrap();
        assert_eq!(set.iter().collect::<Vec<_>>(), [SystemTag::Status, SystemTag::Ip]);
        assert_eq!(SystemTags::parse([""]), Ok(SystemTags(0)));
    }

    #[test]
    fn unknown_name_gets_a_suggestion() {
        let error = SystemTags::parse(["sttaus"]).unwrap_err().to_string();
        assert!(
            error.starts_with("unknown system tag 'sttaus'; did you mean 'status'? (expected any of proto, "),
            "{error}"
        );
    }
}
