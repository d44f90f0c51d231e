//! What members of a group tell each other by way of the broker, as far as it is read: its first fields, which are the
//! same in all versions.
//!
//! Not read by the library, because that makes room for as many entries as a number says: members are other programs,
//! and a number that is wrong would end this one. Refuses lists that have more entries than there are bytes.

use bytes::{Buf, Bytes};

/// The partitions that a leader gave to a member; none where it gave no bytes.
pub(crate) fn read_assignment(bytes: Bytes) -> Result<Vec<(String, i32)>, String> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let assigned = MemberFields::behind_version(bytes).and_then(|mut fields| {
        let mut assigned = Vec::new();
        for _ in 0..fields.count()? {
            let topic = fields.text()?;
            for _ in 0..fields.count()? {
                assigned.push((topic.clone(), fields.0.try_get_i32().ok()?));
            }
        }
        Some(assigned)
    });
    assigned.ok_or_else(|| String::from("the assignment cannot be read: it ends too early"))
}

/// The topics that a member wants.
pub(crate) fn read_subscription(bytes: Bytes) -> Result<Vec<String>, String> {
    let wanted = MemberFields::behind_version(bytes).and_then(|mut fields| {
        let count = fields.count()?;
        (0..count).map(|_| fields.text()).collect()
    });
    wanted.ok_or_else(|| String::from("it ends too early"))
}

/// What is not read yet.
struct MemberFields(Bytes);

impl MemberFields {
    fn behind_version(mut bytes: Bytes) -> Option<MemberFields> {
        bytes.try_get_i16().ok().map(|_| MemberFields(bytes))
    }

    /// Entries of a list; no more than there are bytes.
    fn count(&mut self) -> Option<usize> {
        let count = self.0.try_get_i32().ok()?;
        usize::try_from(count.max(0)).ok().filter(|count| *count <= self.0.remaining())
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.0.try_get_i16().ok()?).ok()?;
        (length <= self.0.remaining()).then(|| String::from_utf8_lossy(&self.0.split_to(length)).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBSCRIPTION: &[u8] = b"\0\x01\0\0\0\x02\0\x01t\0\x02uv\0\0\0\0\0\0\0\0";
    const ASSIGNMENT: &[u8] = b"\0\x01\0\0\0\x01\0\x01t\0\0\0\x02\0\0\0\x05\0\0\0\x07\0\0\0\0";

    #[test]
    fn the_first_fields_are_read_whatever_follows() {
        assert_eq!(read_subscription(Bytes::from_static(SUBSCRIPTION)).unwrap(), ["t", "uv"]);
        let assigned = read_assignment(Bytes::from_static(ASSIGNMENT)).unwrap();
        assert_eq!(assigned, [(String::from("t"), 5), (String::from("t"), 7)]);
        assert_eq!(read_assignment(Bytes::new()), Ok(Vec::new()));
    }

    #[test]
    fn numbers_that_are_wrong_are_errors_and_take_no_memory() {
        for bytes in [&SUBSCRIPTION[..8], b"\0", b"\0\0\x7f\xff\xff\xff", b"r=rx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=9"] {
            let bytes = Bytes::from_static(bytes);
            assert_eq!(read_subscription(bytes.clone()).unwrap_err(), "it ends too early", "{bytes:?}");
            assert!(read_assignment(bytes.clone()).is_err(), "{bytes:?}");
        }
    }
}
