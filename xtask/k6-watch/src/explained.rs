//! The table of what k6 has and Onrush does not, each with its reason: `explained.txt`.
//!
//! A row is a kind, a name, and behind two spaces the reason. `*` in a name stands for any text.

use crate::Row;

const TABLE: &str = include_str!("../explained.txt");

struct Explanation {
    kind: &'static str,
    name: &'static str,
}

impl Explanation {
    fn means(&self, kind: &str, name: &str) -> bool {
        kind == self.kind && matches(self.name, name)
    }
}

/// Whether a name is that of a row, in which `*` is any text.
fn matches(row: &str, name: &str) -> bool {
    let Some((before, rest)) = row.split_once('*') else { return row == name };
    let Some(name) = name.strip_prefix(before) else { return false };
    name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| matches(rest, &name[at..]))
}

fn read(table: &'static str) -> Result<Vec<Explanation>, String> {
    let rows = table.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let rows = rows.map(|(line, number)| {
        let wrong = || {
            format!("explained.txt:{number}: found '{line}', expected a kind, a name and, behind two spaces, a reason")
        };
        let (row, reason) = line.split_once("  ").ok_or_else(wrong)?;
        let (kind, name) = row.split_once(' ').filter(|_| reason.trim().contains(' ')).ok_or_else(wrong)?;
        Ok(Explanation { kind, name })
    });
    rows.collect()
}

/// An error that lists what has no row, and rows that nothing needs. Without sources less is known, and rows may be
/// left over.
pub(crate) fn judge(missing: &[Row], is_whole: bool) -> Result<(), String> {
    let problems = problems(missing, &read(TABLE)?, is_whole);
    match problems.is_empty() {
        true => {
            println!("{} names that Onrush does not have are explained", missing.len());
            Ok(())
        }
        false => Err(problems.join("\n")),
    }
}

fn problems(missing: &[Row], rows: &[Explanation], is_whole: bool) -> Vec<String> {
    let has_row = |(kind, name): &&Row| rows.iter().any(|row| row.means(kind, name));
    let unexplained = missing.iter().filter(|row| !has_row(row)).map(|(kind, name)| {
        format!(
            "{kind} {name}: neither obeyed nor refused by name; do so, or explain it in xtask/k6-watch/explained.txt"
        )
    });
    let is_needed = |row: &&Explanation| missing.iter().any(|(kind, name)| row.means(kind, name));
    let stale = rows.iter().filter(|row| is_whole && !is_needed(row));
    let stale =
        stale.map(|row| format!("{} {}: nothing needs this row of xtask/k6-watch/explained.txt", row.kind, row.name));
    unexplained.chain(stale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_row_and_every_row_a_name() {
        assert!(matches("a.*.b", "a.x.y.b") && !matches("a.*.b", "a.x.c") && matches("*", ""));
        let rows = read("# c\n\nvariable K6_A_*  it is not there\nflag run --b  nor is this one\n").expect("rows");
        let missing = |all: &[&str]| all.iter().map(|name| ("variable", (*name).to_owned())).collect::<Vec<_>>();
        assert_eq!(problems(&missing(&["K6_A_1", "K6_A_2"]), &rows, false), Vec::<String>::new());
        let told = problems(&missing(&["K6_A_1", "K6_B"]), &rows, true);
        assert!(told[0].starts_with("variable K6_B: neither obeyed"), "{told:?}");
        assert!(told[1].starts_with("flag run --b: nothing needs"), "{told:?}");
        assert_eq!(told.len(), 2);
        assert!(read("variable K6_A\n").is_err() && read("variable K6_A  short\n").is_err());
        assert!(read(TABLE).is_ok(), "the table itself");
    }
}
