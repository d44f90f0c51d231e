//! Which runs of a matrix a side has.

use onrush_report::compare::{Side, read_sides};
use onrush_report::document::Cause;

/// Six rounds of `wrk` and of `onrush, url` at 8 connections.
const MATRIX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schema_1/matrix.json");

fn side(selector: &str) -> Result<Side, String> {
    read_sides(&format!("{MATRIX}{selector}"), MATRIX).map(|(a, _)| a)
}

#[test]
fn a_variant_has_its_own_runs_and_no_others() {
    let wrk = side(":variant=wrk").expect("there");
    let rounds: Vec<_> = wrk.runs.iter().map(|run| run.round.as_deref()).collect();
    assert_eq!(rounds, ["1", "2", "3", "4", "5", "6"].map(Some));
    assert!(wrk.runs.iter().all(|run| run.name.contains(": connections=8 wrk round ")), "{}", wrk.runs[0].name);
    // What a side was chosen by is no part of its cells.
    assert!(wrk.runs.iter().all(|run| run.cell.keys().eq(["connections"])), "{:?}", wrk.runs[0].cell);
    let problems: Vec<_> = wrk.runs.iter().map(|run| run.result.as_ref().expect_err("another program's")).collect();
    assert!(problems.iter().all(|problem| problem.contains("its load was another program's")), "{problems:?}");
    assert_eq!(side(":connections=8").expect("there").runs.len(), 12);
    assert_eq!(side(":connections=8,variant=wrk").expect("there").runs.len(), 6);
    assert_eq!(side(":connections=9").expect_err("none"), format!("{MATRIX}: no run has connections=9"));
    assert_eq!(side(":variant=wkr").expect_err("none"), format!("{MATRIX}: no run has variant=wkr"));
    let unknown = format!("{MATRIX}: found no axis 'conections', expected one of connections, variant");
    assert_eq!(side(":conections=8").expect_err("unknown"), unknown);
}

#[test]
fn all_runs_of_a_matrix_have_their_variant_in_the_cell() {
    let all = side("").expect("there");
    let of = |variant: &str| all.runs.iter().filter(|run| run.cell["variant"] == variant).count();
    assert_eq!((all.runs.len(), of("wrk"), of("onrush, url")), (12, 6, 6));
    let results: Vec<_> = all.runs.iter().filter_map(|run| run.result.as_ref().ok()).collect();
    assert_eq!(results.len(), 6);
    assert!(results.iter().all(|result| result.script.is_empty()), "the matrix wrote it itself");
    assert!(results.iter().all(|result| result.generator.saturated), "as the runs say themselves");
}

#[test]
fn a_run_too_short_to_judge_itself_is_judged_by_the_cores_of_its_plan() {
    let mut matrix: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(MATRIX).expect("the fixture")).expect("JSON");
    for (at, run) in matrix["runs"].as_array_mut().expect("runs").iter_mut().enumerate() {
        run["server"] = serde_json::json!({ "cpu_s": 0.5 });
        if let Some(generator) = run.get_mut("result").map(|result| &mut result["generator"]) {
            generator["saturated"] = false.into();
            generator["complaint"] = serde_json::Value::Null;
            // The plan gives it one core.
            generator["process_cores"] = (if at < 6 { 0.96 } else { 0.9 }).into();
        }
    }
    let path = std::env::temp_dir().join(format!("onrush-short-runs-{}.json", std::process::id()));
    std::fs::write(&path, matrix.to_string()).expect("written");
    let (side, _) = read_sides(&path.display().to_string(), MATRIX).expect("sides");
    std::fs::remove_file(&path).expect("removed");
    let results = side.runs.iter().filter_map(|run| run.result.as_ref().ok());
    let generators: Vec<_> = results.map(|result| &result.generator).collect();
    let full = generators.iter().filter(|generator| generator.process_cores > 0.95);
    assert_eq!((full.clone().count(), generators.len()), (3, 6));
    let complaint = "the generator was the limit: it filled the cores that the plan gave it";
    for generator in generators {
        let is_full = generator.process_cores > 0.95;
        assert_eq!(generator.saturated, is_full);
        assert_eq!(generator.complaint.as_deref(), is_full.then_some(complaint));
        assert_eq!(generator.limit(), is_full.then_some(Cause::Busy));
    }
}
