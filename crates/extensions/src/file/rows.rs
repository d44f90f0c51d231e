//! Rows of a text, by their numbers.

/// The text without the rows from `first` to `last`, which count from 1; both of them go. Rows end with a line feed,
/// the last one may lack it. The rows that stay keep their bytes.
pub fn without(text: &[u8], first: usize, last: usize) -> Vec<u8> {
    let rows = text.split_inclusive(|byte| *byte == b'\n').enumerate();
    let kept = rows.filter(|(index, _)| !(first..=last).contains(&(index + 1)));
    kept.flat_map(|(_, row)| row.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_between_go_with_both_ends() {
        let cut = |text: &str, first, last| String::from_utf8(without(text.as_bytes(), first, last)).unwrap();
        assert_eq!(cut("a\nb\nc\nd\n", 2, 3), "a\nd\n");
        assert_eq!(cut("a\r\nb\r\n", 1, 1), "b\r\n");
        assert_eq!(cut("a\nb", 2, 2), "a\n");
        assert_eq!(cut("a\nb", 2, usize::MAX), "a\n");
        assert_eq!(cut("a\nb\n", 3, 9), "a\nb\n");
        assert_eq!(cut("", 1, 1), "");
    }
}
