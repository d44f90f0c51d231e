//! What a table is to show, and whether a plan has the axes that it is asked for.

use super::pivot::{self, Pivot};
use crate::matrix::plan::Plan;

/// The percentiles that tables show by default; 100 is the maximum.
pub const PERCENTILES: [f64; 12] = [5.0, 10.0, 20.0, 40.0, 50.0, 60.0, 80.0, 90.0, 95.0, 99.0, 99.9, 100.0];

/// What a table is to show.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// Axes (or `variant`) that get a table of their own for each value; when none are named there is one table, and
    /// the rows of one cell are a group.
    pub group_by: Option<Vec<String>>,
    /// Which percentiles.
    pub percentiles: Vec<f64>,
    /// Grids of these axes instead of rows; not together with `group_by`.
    pub pivot: Option<Pivot>,
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions { group_by: None, percentiles: PERCENTILES.to_vec(), pivot: None }
    }
}

impl TableOptions {
    /// Refuses axes that a plan does not have.
    pub fn check(&self, plan: &Plan) -> Result<(), String> {
        self.settled_pivot(&known(plan)).map(drop)
    }

    /// Which axes are rows and columns, if a pivot was asked for.
    pub(super) fn settled_pivot(&self, known: &[String]) -> Result<Option<Pivot>, String> {
        let named = self.group_by.iter().flatten();
        pivot::check("group-by", named, known)?;
        self.pivot.as_ref().map(|pivot| pivot.settled(known)).transpose()
    }
}

/// What rows can be told apart by.
pub(super) fn known(plan: &Plan) -> Vec<String> {
    plan.axes.keys().cloned().chain([String::from("variant")]).collect()
}
