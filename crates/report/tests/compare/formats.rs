//! What each format says beyond the verdict: rules and rows of tables, scales and intervals.

use serde_json::{Value as Json, json};

use super::*;

fn by(texts: &[&str]) -> Settings {
    let wanted = texts.iter().map(|text| Wanted::parse(text).expect("a metric")).collect();
    Settings { wanted, ..Settings::default() }
}

#[test]
fn a_comment_has_the_verdict_and_one_table_before_its_details() {
    let (a, b) = sides(8, 2000.0, 0.95);
    let comparison = compare(&a, &b, &by(&["http_reqs", "http_req_failed"])).expect("comparable");
    // Metrics were named, so that nothing is only shown; and no run is left out.
    let expected = "\
**worse: http_reqs /s -4.97 %**

| metric | A, median | B, median | change, median of pairs | 95 % interval | p | verdict |
|---|--:|--:|--:|--:|--:|---|
| `http_reqs /s` | 2000 | 1900 | -4.97 % | -5.02 … -4.91 % | 0.0078 | **worse** |
| `http_req_failed` | 0.00 % | 0.00 % | 0 points | 0 … 0 points | 1.0000 | same |


<details><summary>Details</summary>

A is `base`, B is `new`: 8 runs of A, 8 runs of B, 8 pairs compared.

- change is the Hodges-Lehmann estimate over the pairs, p that of the exact signed-rank test after Holm; better and \
worse need p at or under 0.05, same is the whole interval within ±2 %, shares within ±0.1 points

</details>
";
    assert_eq!(render::markdown(&comparison), expected);
    // Without any pair there is no row, and no table.
    let (mut a, b) = sides(8, 2000.0, 0.95);
    a.runs.iter_mut().for_each(|run| run.result = Err(String::from("it broke")));
    let nothing = render::markdown(&compared(&a, &b));
    assert!(!nothing.contains("| metric |"), "{nothing}");
    assert!(nothing.contains("\n> ⚠ 16 of 16 runs are left out: they are no evidence, or their partner is none\n"));
}

/// A ratio's change and interval are fractions, a share's and a difference's are as they are.
#[test]
fn json_tells_the_scale_of_a_change_and_its_interval() {
    let (mut a, mut b) = sides(8, 2000.0, 0.95);
    for (side, lost) in [(&mut a, 0.0), (&mut b, 5.0)] {
        for (at, run) in side.runs.iter_mut().enumerate() {
            let metrics = &mut run.result.as_mut().unwrap().metrics;
            let count = lost * (1.0 + at as f64);
            metrics[2].value = Value::Rate { passes: 2 * count as u64, total: 1000 };
            metrics.push(metric("lost", Contains::Default, Value::Counter { count, rate: count / 10.0 }));
        }
    }
    let comparison = compare(&a, &b, &by(&["http_reqs", "http_req_failed", "lost:count:lower"])).expect("comparable");
    let found = render::json(&comparison);
    let rows = found["metrics"].as_array().expect("metrics");
    let scales: Vec<_> = rows.iter().map(|row| row["scale"].as_str().expect("a text")).collect();
    assert_eq!(scales, ["ratio", "share", "difference"]);
    let near = |found: &Json, expected: f64| {
        let found = found.as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-4, "{found} and {expected}");
    };
    // Differences of 0.01 to 0.08, and of 5 to 40: of eight pairs the interval keeps all but the three most extreme
    // means of two.
    for (row, change, [low, high]) in
        [(&rows[0], -0.0497, [-0.0502, -0.0491]), (&rows[1], 0.045, [0.02, 0.07]), (&rows[2], 22.5, [10.0, 35.0])]
    {
        near(&row["change"], change);
        near(&row["interval"][0], low);
        near(&row["interval"][1], high);
    }
    let few = compare(&first(&a, 5), &first(&b, 5), &by(&["http_reqs"])).expect("comparable");
    let few = render::json(&few);
    assert_eq!(few["metrics"][0]["interval"], json!(null), "five pairs have none");
}

fn first(side: &Side, count: usize) -> Side {
    Side { name: side.name.clone(), runs: side.runs[..count].to_vec() }
}

#[test]
fn json_tells_the_scale_of_a_condition_too() {
    let (a, b) = sides(8, 2000.0, 0.95);
    let texts = ["p(95) +10%", "http_req_failed +0.5%", "http_req_duration:avg +1"];
    let found = render::json(&compare(&a, &b, &with_conditions(&texts)).expect("comparable"));
    let conditions = found["conditions"].as_array().expect("conditions");
    let scales: Vec<_> = conditions.iter().map(|condition| condition["scale"].as_str().expect("a text")).collect();
    assert_eq!(scales, ["ratio", "share", "difference"]);
    assert_eq!(conditions[1]["interval"], json!([0.0, 0.0]));
    let interval: Vec<_> = (0..2).filter_map(|at| conditions[0]["interval"][at].as_f64()).collect();
    assert!((interval[0] - 0.0517).abs() < 1e-4 && (interval[1] - 0.0528).abs() < 1e-4, "{interval:?}");
}
