//! The head of a packet of Socket.IO that may go the short way: an event or an acknowledgement.

/// What stands before a packet's list.
#[derive(Debug, PartialEq, Eq)]
pub struct PacketHead<'a> {
    /// An acknowledgement; else an event.
    pub is_answer: bool,
    /// How many binary messages follow.
    pub attachments: usize,
    /// As it stands there, with its comma: `/admin,`. Nothing for the namespace `/`.
    pub namespace: &'a [u8],
    /// Of an acknowledgement, and of an event that wants one.
    pub id: Option<u32>,
    /// JSON.
    pub list: &'a [u8],
}

/// Attachments that are not worth the long way. No more than a script would send.
const MOST_ATTACHMENTS: u32 = 1000;

impl<'a> PacketHead<'a> {
    /// Reads it from a message of Engine.IO; nothing for all other packets, and for what is none.
    pub fn read(text: &'a [u8]) -> Option<PacketHead<'a>> {
        let (kind, rest) = text.strip_prefix(b"4")?.split_first()?;
        let (is_answer, is_binary) = match kind {
            b'2' => (false, false),
            b'3' => (true, false),
            b'5' => (false, true),
            b'6' => (true, true),
            _ => return None,
        };
        let (attachments, rest) = match is_binary {
            true => {
                let (count, rest) = digits(rest);
                let count = count.filter(|count| (1..=MOST_ATTACHMENTS).contains(count))?;
                (count as usize, rest.strip_prefix(b"-")?)
            }
            false => (0, rest),
        };
        let (namespace, rest) = match rest.first()? {
            b'/' => rest.split_at(rest.iter().position(|byte| *byte == b',')? + 1),
            _ => (&rest[..0], rest),
        };
        let (id, list) = digits(rest);
        debug_assert!(is_binary == (attachments > 0), "only a binary packet announces attachments");
        let is_list = list.starts_with(b"[") && (id.is_some() || !is_answer);
        is_list.then_some(PacketHead { is_answer, attachments, namespace, id, list })
    }
}

/// A number of at most nine digits, and what follows.
fn digits(text: &[u8]) -> (Option<u32>, &[u8]) {
    let length = text.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    debug_assert!(length <= 9, "nine digits fit into a number");
    let (number, rest) = text.split_at(length);
    let number = number.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    ((length > 0).then_some(number), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_or_left_alone() {
        let head = |text: &'static str| PacketHead::read(text.as_bytes());
        let (namespace, list) = (&b""[..], &b"[]"[..]);
        let event = PacketHead { is_answer: false, attachments: 0, namespace, id: None, list };
        assert_eq!(head("42[]"), Some(event));
        let event = PacketHead { is_answer: false, attachments: 2, namespace: b"/a,", id: Some(12), list };
        assert_eq!(head("452-/a,12[]"), Some(event));
        let answer = PacketHead { is_answer: true, attachments: 0, namespace, id: Some(0), list: b"[1,\"/x,\"]" };
        assert_eq!(head("430[1,\"/x,\"]"), Some(answer));
        assert_eq!(head("461-7[]").map(|head| (head.is_answer, head.attachments, head.id)), Some((true, 1, Some(7))));
        for other in [
            "",
            "4",
            "2",
            "42",
            "40{}",
            "42{}",
            "43[]",
            "45[]",
            "450-[]",
            "451[]",
            "42/a[]",
            "4212",
            "421234567890[]",
            "x2[]",
        ] {
            assert_eq!(head(other), None, "{other}");
        }
    }
}
