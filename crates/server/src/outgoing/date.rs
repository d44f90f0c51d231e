//! The lines that every HTTP/1.x response of this server has: its name, and the date, formatted once a second a thread.

use std::cell::Cell;
use std::io::Write;
use std::time::{Duration, SystemTime};

use httpdate::HttpDate;

/// `Server: onrush`, then `Date: ` and its value.
type OwnLines = [u8; 53];

/// Where in them the date stands.
const DATE: std::ops::Range<usize> = 22..51;

/// The lines, each with its end.
pub(crate) fn own_lines() -> OwnLines {
    thread_local!(static LAST: Cell<(u64, OwnLines)> = const { Cell::new((u64::MAX, [0; 53])) });
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (second, lines) = LAST.get();
    if second == now {
        return lines;
    }
    let mut lines = *b"Server: onrush\r\nDate: .............................\r\n";
    lines[DATE].copy_from_slice(&imf_date(now));
    LAST.set((now, lines));
    lines
}

/// The `Date` value.
pub(crate) fn date() -> [u8; 29] {
    own_lines()[DATE].try_into().expect("a date has 29 characters")
}

/// RFC 9110 section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn imf_date(epoch_s: u64) -> [u8; 29] {
    let moment = HttpDate::from(SystemTime::UNIX_EPOCH + Duration::from_secs(epoch_s));
    let mut text = [b' '; 29];
    write!(&mut text[..], "{moment}").expect("29 characters until the year 9999");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (epoch, want) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ] {
            assert_eq!(std::str::from_utf8(&imf_date(epoch)), Ok(want));
        }
    }

    #[test]
    fn the_lines_are_whole() {
        let lines = String::from_utf8(own_lines().to_vec()).unwrap();
        let date = String::from_utf8(date().to_vec()).unwrap();
        assert!(date.ends_with(" GMT"), "{date}");
        assert!(lines.starts_with("Server: onrush\r\nDate: ") && lines.ends_with(" GMT\r\n"), "{lines}");
    }
}
