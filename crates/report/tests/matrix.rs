//! The matrix's result: its schema is the committed one, it reads back as it was written, and what is not one is
//! refused.

#![allow(clippy::disallowed_methods, reason = "told by the environment to write the expected files anew")]

use std::io::Write;
use std::path::Path;

use onrush_report::matrix::document::{self, KIND, MatrixDocument, SCHEMA, Timing};
use onrush_report::matrix::{plan, table};

const SCHEMA_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/matrix-2.json");

#[test]
fn the_schema_is_the_committed_one() {
    let found = serde_json::to_string_pretty(&schemars::schema_for!(MatrixDocument).to_value()).expect("JSON") + "\n";
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::write(SCHEMA_FILE, &found).expect("written");
    }
    let expected = std::fs::read_to_string(SCHEMA_FILE).expect("docs/schema/matrix-2.json");
    assert!(found == expected, "the types differ from docs/schema/matrix-2.json; ONRUSH_BLESS=1 stores the new schema");
}

#[test]
fn it_reads_back_and_others_are_refused() {
    let text =
        "[axes]\nb = [1]\na = [{ name = 'x', n = 2 }]\n[load]\nurl = '{base}/'\n[[variants]]\nname = 'v'\nserve = {}\n";
    let written = MatrixDocument {
        kind: KIND.into(),
        schema: SCHEMA,
        onrush: "0.1.0".into(),
        started_at: "2026-11-21T18:00:00.000Z".into(),
        seed: 7,
        plan: plan::from_toml("p.toml", text).expect("a plan"),
        environment: Default::default(),
        timing: Timing::default(),
        runs: vec![],
    };
    let folder = std::env::temp_dir().join(format!("onrush-matrix-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("m.json");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("written");
        document::read(Path::new(&path))
    };
    let good = serde_json::to_string(&written).expect("JSON");
    assert_eq!(read(&good), Ok(written));
    let packed = folder.join("m.json.gz");
    let mut gzip = flate2::write::GzEncoder::new(std::fs::File::create(&packed).expect("made"), Default::default());
    gzip.write_all(good.as_bytes()).and_then(|()| gzip.finish().map(drop)).expect("written");
    assert_eq!(document::read(&packed).map(|document| document.seed), Ok(7));
    for (text, expected) in [
        ("{", "m.json:1:1: not a matrix's result: EOF"),
        ("{}", "found no kind, expected 'onrush-matrix', as 'onrush matrix' writes it"),
        (r#"{"kind":"onrush-result"}"#, "found kind 'onrush-result', expected 'onrush-matrix'"),
        (
            &good.replacen("\"schema\":2", "\"schema\":3", 1),
            "found schema 3, this version reads schemas 1 and 2; read it with",
        ),
    ] {
        let message = read(text).expect_err("refused");
        assert!(message.contains(expected), "expected {expected:?} in {message:?}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_result_of_schema_1_becomes_one_of_schema_2() {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schema_1/matrix.json");
    let matrix = document::read(&old).expect("schema 1 is read");
    let results: Vec<_> = matrix.runs.iter().filter_map(|run| run.result.as_ref()).collect();
    assert_eq!((matrix.schema, matrix.runs.len(), results.len()), (SCHEMA, 12, 6));
    assert!(results.iter().all(|result| result.schema == SCHEMA));
    let text = serde_json::to_string(&matrix).expect("JSON");
    assert!(!text.contains("buckets"), "{text}");
    assert_eq!(serde_json::from_str::<MatrixDocument>(&text).expect("schema 2 is read"), matrix);
    let tables = table::tables(&matrix, &Default::default()).expect("tables");
    let rows: Vec<_> = tables.groups.iter().flat_map(|group| &group.rows).collect();
    // As the version told that wrote them: Onrush's histogram, and what another program printed.
    assert_eq!((rows[0].values["variant"].as_str(), rows[0].valid), ("onrush, url", 6));
    assert_eq!(rows[0].rate.map(|rate| rate.median.round()), Some(149109.0));
    assert_eq!(rows[1].percentiles[4], Some(0.0405));
    let p50 = rows[0].percentiles[4].expect("of a histogram");
    assert!((p50 / 0.0172819 - 1.0).abs() < 0.001, "{p50}");
}
