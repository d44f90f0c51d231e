//! The schemas of what commands print of results are the committed ones. Those of results themselves are held beside
//! their own tests; that real output keeps to all of them is tested with the binary.

#![allow(clippy::disallowed_methods, reason = "told by the environment to write the expected files anew")]

use std::path::Path;

use onrush_report::capacity::CapacityAnswer;
use onrush_report::compare::render::ComparisonAnswer;
use onrush_report::history::HistoryAnswer;
use onrush_report::matrix::table::{Grid, RunLine, Tables};
use onrush_report::witness::{Trial, WitnessDocument};
use schemars::{JsonSchema, schema_for};

fn holds<T: JsonSchema>(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(name);
    let found = serde_json::to_string_pretty(&schema_for!(T).to_value()).expect("JSON") + "\n";
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::write(&path, &found).expect("written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "the types differ from docs/schema/{name}; ONRUSH_BLESS=1 stores the new schema");
}

#[test]
fn the_schemas_of_answers_are_the_committed_ones() {
    holds::<CapacityAnswer>("capacity-1.json");
    holds::<ComparisonAnswer>("comparison-1.json");
    holds::<HistoryAnswer>("history-1.json");
    holds::<Tables>("tables-1.json");
    holds::<Vec<Grid>>("grids-1.json");
    holds::<Vec<RunLine>>("lines-1.json");
    holds::<WitnessDocument>("witness-1.json");
    holds::<Trial>("trial-1.json");
}
