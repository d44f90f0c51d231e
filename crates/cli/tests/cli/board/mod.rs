//! The board of bench/board: its plan loads, and each of its profiles runs against the target.

use std::path::Path;

use serde_json::{Value, json};

use crate::lab::Lab;

/// A lab with the scripts, and the plan as it is changed.
fn with_board(change: impl Fn(String) -> String) -> Lab {
    let (lab, board) = (Lab::new(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/board"));
    for entry in std::fs::read_dir(&board).expect("the board") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a text");
        lab.file(&name, &if name == "board.toml" { change(text) } else { text });
    }
    lab
}

#[test]
fn its_plan_loads() {
    let lab = with_board(|plan| plan);
    let order = lab.onrush(&["matrix", "board.toml", "--dry-run", "--json"]).code(0).stdout;
    let order: Value = serde_json::from_str(&order).expect("JSON");
    // Seven profiles, of which nginx has five, in three rounds.
    assert_eq!((&order["cells"], &order["runs"]), (&json!(7), &json!(36)));
}

#[test]
fn each_profile_runs() {
    let lab = with_board(|plan| {
        let (ours, _nginx) = plan.split_once("[[variants]]\nname = \"nginx\"").expect("nginx comes last");
        let (before, rest) = ours.split_once("setup = [").expect("a setup, for nginx alone");
        let (_, behind) = rest.split_once("\n]\n").expect("its end");
        let plan = format!("{before}{behind}").replace("warm_up = \"1s\"", "warm_up = \"0s\"");
        plan.replace("DURATION = \"3s\"", "DURATION = \"1s\"").replace("RATE = \"1000\"", "RATE = \"100\"")
    });
    lab.onrush(&["matrix", "board.toml", "-q", "--rounds", "1", "--accept-late", "-o", "board.matrix.json"]).code(0);
    let result: Value = serde_json::from_str(&lab.read("board.matrix.json")).expect("JSON");
    let runs = result["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 7);
    for run in runs {
        assert_eq!(run["outcome"], "ok", "{run}");
        let iterations = &run["result"]["generator"]["judgement"]["iterations"];
        assert!(iterations["planned"].as_u64() > Some(0), "{run}");
        let metrics = run["result"]["metrics"].as_array().expect("metrics");
        let operations = metrics.iter().find(|metric| metric["name"] == "operations").expect("operations");
        assert!(operations["value"]["count"].as_f64() > Some(10.0), "{operations} of {}", run["axes"]);
    }
}
