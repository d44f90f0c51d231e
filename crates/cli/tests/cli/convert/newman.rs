//! Requests of Postman's collections, and what newman sends for them.
//!
//! Also read by `cargo xtask convert newman`, which has newman itself send the same. Left out is what newman says of
//! itself: its User-Agent, its token, and that it takes any answer.

use serde_json::{Value, json};

use super::cases;

/// The collection of the table: an item for each of its blocks.
pub fn collection(table: &str, address: &str) -> String {
    let port = address.rsplit(':').next().unwrap_or_default();
    let item = |(at, (line, _)): (usize, &(&str, &str))| {
        let line = line.replace("{@}", address).replace("{@port}", port);
        let mut item: Value = serde_json::from_str(&line).expect("an item of the table");
        item["name"] = json!(format!("item {at}"));
        item
    };
    let items: Vec<Value> = cases(table).iter().enumerate().map(item).collect();
    let variables = json!([
        { "key": "base", "value": format!("http://{address}") },
        { "key": "odd", "value": "a b\"&" },
        { "key": "secret", "value": "s3 cret" },
        { "key": "number", "value": 5 },
    ]);
    let schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
    json!({ "info": { "name": "newman", "schema": schema }, "variable": variables, "item": items }).to_string()
}

/// A request without what newman adds to each.
pub fn comparable(request: &str) -> String {
    const OF_NEWMAN: [&str; 6] =
        ["user-agent: ", "accept: */*", "accept-encoding: ", "cache-control: ", "postman-token: ", "connection: "];
    let is_of_request = |line: &&str| !OF_NEWMAN.iter().any(|start| line.starts_with(start));
    let lines: Vec<&str> = request.lines().filter(is_of_request).collect();
    lines.join("\n")
}
