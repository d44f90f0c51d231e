//! Whether the planned rounds can prove a best at all.
//!
//! An exact signed-rank test over n pairs has no p-value below 2^(1-n), and Holm's correction multiplies it by the
//! number of comparisons: three variants in six rounds can never be told apart at 5 %, whatever they measure. That is
//! known before anything runs.

use std::collections::BTreeMap;

use super::Matrix;
use crate::stats::pairs_needed;

impl Matrix {
    /// Says so when the rounds of this plan cannot prove which row of a group is the best, and how many would do. A
    /// group are the rows of one cell, or those that share the values of these axes.
    pub fn too_few_rounds(&self, group_by: Option<&[String]>) -> Option<String> {
        let rows = self.largest_group(group_by);
        let rounds = self.plan.rounds as usize;
        let needed = pairs_needed(rows.checked_sub(1).filter(|others| *others > 0)?);
        let what = if group_by.is_some() { "rows" } else { "variants" };
        let comparisons = match rows {
            2 => String::from("an exact signed-rank test"),
            rows => format!("exact signed-rank tests with Holm's correction over {} comparisons", rows - 1),
        };
        (rounds < needed).then(|| {
            format!(
                "{rounds} {} can never prove which of {rows} {what} is the best ({comparisons}): {needed} are needed",
                if rounds == 1 { "round" } else { "rounds" }
            )
        })
    }

    /// Most rows that are compared with each other.
    fn largest_group(&self, group_by: Option<&[String]>) -> usize {
        let mut groups: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        for (cell, variants) in self.cells.iter().zip(self.variants()) {
            for part in variants {
                let value = |axis: &String| match axis.as_str() {
                    "variant" => self.parts[part].name.clone(),
                    axis => cell.value_of(axis).unwrap_or_default(),
                };
                let key = match group_by {
                    Some(axes) => axes.iter().map(value).collect(),
                    None => vec![cell.label()],
                };
                *groups.entry(key).or_insert(0) += 1;
            }
        }
        groups.into_values().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Matrix, plan};

    fn told(rounds: u32, variants: usize, group_by: Option<&[&str]>) -> Option<String> {
        let mut text = format!("rounds = {rounds}\n[axes]\nsize = [1, 2]\n[load]\nurl = 'http://h/{{size}}'\n");
        (0..variants).for_each(|number| text.push_str(&format!("[[variants]]\nname = '{number}'\n")));
        let matrix = Matrix::new(plan::from_toml("p.toml", &text).unwrap()).unwrap();
        let group_by: Option<Vec<String>> = group_by.map(|axes| axes.iter().map(|axis| axis.to_string()).collect());
        matrix.too_few_rounds(group_by.as_deref())
    }

    #[test]
    fn rounds_that_can_prove_nothing_are_told_with_the_number_that_can() {
        let three = "6 rounds can never prove which of 3 variants is the best (exact signed-rank tests with Holm's \
            correction over 2 comparisons): 7 are needed";
        assert_eq!(told(6, 3, None).as_deref(), Some(three));
        assert_eq!(told(7, 3, None), None);
        let two = "1 round can never prove which of 2 variants is the best (an exact signed-rank test): 6 are needed";
        assert_eq!(told(1, 2, None).as_deref(), Some(two));
        assert_eq!((told(6, 2, None), told(1, 1, None)), (None, None));
    }

    #[test]
    fn groups_of_several_cells_take_more() {
        assert!(told(6, 2, Some(&["variant"])).is_none(), "two cells of one variant");
        let all = told(6, 2, Some(&[])).expect("four rows in one group");
        assert!(
            all.starts_with("6 rounds can never prove which of 4 rows is the best") && all.ends_with("7 are needed")
        );
    }
}
