//! `onrush history`: the saved runs of a folder as a table, as JSON and as a page. Where levels change is tested in
//! `report`.

use serde_json::Value;

use crate::lab::Lab;

const SCRIPT: &str = "import http from 'k6/http';
    export const options = { iterations: 5 };
    export default function () { http.get(__ENV.TARGET); }";

#[test]
fn runs_of_a_folder_stand_in_the_order_they_were_made() {
    let lab = Lab::with(SCRIPT);
    for name in ["b", "a"] {
        lab.run(&["--serve", "--save", &format!("runs/{name}"), "--label", &format!("name={name}")]).code(0);
    }
    let text = lab.onrush(&["history", "runs"]).code(0).stdout;
    let places = ["started", "runs/b", "runs/a"].map(|part| text.find(part).expect("in the table"));
    assert!(places.is_sorted(), "{text}");
    assert!(text.contains("changes are looked for from 6 runs on, and there are "), "{text}");
    let json = lab.onrush(&["history", "runs", "--json", "--metric", "http_reqs:count", "-o", "page.html"]).code(0);
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["measures"][0]["measure"], "http_reqs count");
    assert_eq!(json["measures"][0]["values"], serde_json::json!([5.0, 5.0]));
    let page = lab.read("page.html");
    assert!(page.contains("<h1>runs</h1>") && page.contains(">Over the runs</h2>"), "{page}");
    let one = lab.onrush(&["history", "runs:name=a", "--json"]).code(0).stdout;
    assert!(one.contains("runs/a") && !one.contains("runs/b"), "{one}");
}

#[test]
fn what_is_no_folder_of_results_is_said() {
    let lab = Lab::with(SCRIPT);
    lab.onrush(&["history", "nowhere"]).code(255).says("no result at nowhere: expected a directory");
    lab.run(&["--serve", "--save", "runs/a"]).code(0);
    let told = "no result has a metric 'http_requs'; did you mean 'http_reqs'?";
    lab.onrush(&["history", "runs", "--metric", "http_requs"]).code(255).says(told);
}
