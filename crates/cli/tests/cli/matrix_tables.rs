//! `onrush table`: maxima and sizes as columns, and pivots of two axes.

use serde_json::Value;

use crate::lab::Lab;

/// A matrix of two sizes, two bodies and two variants.
fn measured() -> Lab {
    let lab = Lab::new();
    lab.file(
        "plan.toml",
        "rounds = 1\nwarm_up = '0s'\n[axes]\nsize = ['1k', '8k']\nbody = ['string', 'array']\n\
         [load]\nurl = '{base}/body/{body}/{size}'\nconnections = 2\nrequests = 40\n\
         [[variants]]\nname = 'one'\nserve = {}\n[[variants]]\nname = 'two'\nserve = { flags = ['--workers', '2'] }\n",
    );
    lab.onrush(&["matrix", "-q", "plan.toml"]).code(0);
    lab
}

#[test]
fn a_pivot_has_a_grid_of_each_figure() {
    let lab = measured();
    let table = |arguments: &[&str]| lab.onrush(&[&["table", "plan.matrix.json"], arguments].concat());
    let text = table(&["--rows", "size", "--columns", "body"]).code(0).stdout;
    for variant in ["one", "two"] {
        for figure in
            ["http_reqs/s", "http_req_duration 50 %, ms", "http_req_duration 99 %, ms", "http_req_duration max, ms"]
        {
            assert!(
                text.contains(&format!("\nvariant={variant}, {figure}: size × body\n\nsize ")),
                "{figure} in {text}"
            );
        }
        for figure in ["bytes/response", "per server CPU s", "server cores"] {
            assert!(text.contains(&format!("variant={variant}, {figure}: size × body\n")), "{figure} in {text}");
        }
    }
    let sizes = text.split("variant=one, bytes/response: size × body\n\n").nth(1).expect("a grid");
    let rows: Vec<Vec<&str>> = sizes.lines().take(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["size", "string", "array"]);
    assert!(
        rows[1][0] == "1k"
            && rows[2][0] == "8k"
            && rows[2][1].replace(',', "").parse::<f64>().is_ok_and(|n| n > 8192.0),
        "{rows:?}"
    );

    let markdown = table(&["--layout", "pivot", "--format", "markdown"]).code(0).stdout;
    assert!(
        markdown.contains("### http\\_reqs/s: size, body × variant\n\n| size | body | one | two |\n|---|---|--:|--:|"),
        "{markdown}"
    );
    table(&["--columns", "size", "--format", "html", "-o", "page.html"]).code(0);
    let page = lab.read("page.html");
    assert!(page.contains("<h3 class=\"of\">http_reqs/s: body, variant × size</h3>"), "{page}");
    assert!(
        page.find("<h3 class=\"of\">http_reqs/s").expect("grids") < page.find("<figure").expect("charts"),
        "grids come first"
    );
    let grids: Value =
        serde_json::from_str(&table(&["--layout", "pivot", "--format", "json"]).code(0).stdout).expect("JSON");
    assert_eq!(
        (&grids[0]["figure"], &grids[0]["columns"]),
        (&"http_reqs/s".into(), &serde_json::json!(["one", "two"]))
    );
    assert_eq!(grids[0]["rows"].as_array().map(Vec::len), Some(4));
    let csv = table(&["--rows", "size", "--columns", "body", "--format", "csv"]).code(0).stdout;
    assert!(csv.starts_with("figure,cell,size,string,array\r\nhttp_reqs/s,variant=one,1k,"), "{csv}");
}

#[test]
fn pivots_that_make_no_sense_are_refused() {
    let lab = measured();
    for (arguments, complaint) in [
        (&["--rows", "sise"][..], "--rows: unknown axis 'sise', expected some of size, body, variant"),
        (&["--rows", "size", "--columns", "size"], "--columns: 'size' is in --rows already, expected another one"),
        (
            &["--rows", "size", "--layout", "lines"],
            "--rows and --columns: found --layout lines, expected pivot, or no layout",
        ),
        (
            &["--rows", "size", "--group-by", "body"],
            "--group-by: a pivot has grids for each value of the axes that are neither",
        ),
        (&["--layout", "cross"], "--layout: found 'cross', expected table, pivot, lines"),
    ] {
        lab.onrush(&[&["table", "plan.matrix.json"], arguments].concat()).code(255).says(complaint);
    }
    lab.onrush(&["matrix", "--dry-run", "plan.toml", "--columns", "x"]).code(255).says("--columns: unknown axis 'x'");
}

#[test]
fn maxima_and_sizes_are_columns() {
    let lab = measured();
    let csv = lab.onrush(&["table", "plan.matrix.json", "--format", "csv", "--percentiles", "99,100"]).code(0).stdout;
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let value = |row: usize, name: &str| {
        let at = lines[0].iter().position(|field| *field == name).unwrap_or_else(|| panic!("{name} in {csv}"));
        lines[row][at].parse::<f64>().unwrap_or_else(|_| panic!("{name} of {row} in {csv}"))
    };
    for row in 1..=8 {
        assert!(value(row, "p100_ms") >= value(row, "p99_ms"), "{csv}");
        assert_eq!(value(row, "errors"), 0.0);
    }
    let result: Value = serde_json::from_str(&lab.read("plan.matrix.json")).expect("JSON");
    let is_first =
        |run: &&Value| run["axes"]["body"] == "string" && run["axes"]["size"] == "1k" && run["variant"] == "one";
    let first = result["runs"].as_array().expect("a list").iter().find(is_first).expect("made");
    let metrics = first["result"]["metrics"].as_array().expect("metrics");
    let durations = metrics.iter().find(|metric| metric["name"] == "http_req_duration").expect("kept");
    assert_eq!(value(1, "p100_ms"), durations["value"]["max"].as_f64().expect("a number"), "the exact maximum");
    let text = lab.onrush(&["table", "plan.matrix.json"]).code(0).stdout;
    let head = text.lines().nth(2).expect("a head");
    assert!(head.contains("  99.9 %  ") && head.contains("  max  ") && head.contains("bytes/response"), "{head}");
    assert!(!head.contains("errors"), "there were none: {head}");
}
