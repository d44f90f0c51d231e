//! What a client wants changed of the load, read from the attributes of `PATCH /v1/status`: `vus` and `vus-max` as k6
//! has them, and ours: `rate`, `scenario`, and `client`, by which `onrush scale` says who it is.

use engine::{ChangedBy, LoadWish};
use serde_json::Value;

/// Who the command `scale` says it is.
pub const SCALE: &str = "onrush scale";

/// An empty wish where they are about something else.
pub fn read(attributes: &Value) -> Result<LoadWish, String> {
    let given = |name: &str| attributes.get(name).filter(|value| !value.is_null());
    let users = |name: &str| {
        let refuse = |value: &Value| format!("{name}: found {value}, expected a whole number of users, 0 or more");
        given(name).map(|value| value.as_u64().ok_or_else(|| refuse(value))).transpose()
    };
    let rate = given("rate").map(|value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.parse().map_err(|why| format!("rate: {why}"))
    });
    let scenario = given("scenario").map(|value| {
        let name = value.as_str().map(str::to_owned);
        name.ok_or_else(|| format!("scenario: found {value}, expected the name of a scenario"))
    });
    let is_scale = given("client").is_some_and(|client| client == SCALE);
    let wish = LoadWish {
        scenario: scenario.transpose()?,
        users: users("vus")?,
        most: users("vus-max")?,
        rate: rate.transpose()?,
        by: if is_scale { ChangedBy::Scale } else { ChangedBy::Rest },
    };
    match wish.scenario.as_ref().filter(|_| wish.is_empty()) {
        Some(name) => Err(format!("found the scenario '{name}' and no load, expected vus, vus-max or rate as well")),
        None => Ok(wish),
    }
}

#[cfg(test)]
mod tests {
    use engine::pacer::Rate;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_about_the_load_is_read_and_the_rest_is_left() {
        let read = |attributes: Value| read(&attributes);
        assert!(read(json!({ "paused": false, "vus": null })).unwrap().is_empty());
        let all = read(json!({ "vus": 3, "vus-max": 9, "scenario": "a", "client": "onrush scale" })).unwrap();
        assert_eq!(
            (all.users, all.most, all.scenario.as_deref(), all.by),
            (Some(3), Some(9), Some("a"), ChangedBy::Scale)
        );
        let rate = |value: Value| read(json!({ "rate": value })).map(|wish| wish.rate.map(Rate::per_second));
        assert_eq!(
            [rate(json!("90/m")), rate(json!(7)), rate(json!(2.5))],
            [Ok(Some(1.5)), Ok(Some(7.0)), Ok(Some(2.5))]
        );
        let wrong = |attributes| read(attributes).unwrap_err();
        assert_eq!(wrong(json!({ "vus": -1 })), "vus: found -1, expected a whole number of users, 0 or more");
        assert!(wrong(json!({ "vus-max": "9" })).starts_with("vus-max: found \"9\", expected"));
        assert!(wrong(json!({ "rate": [] })).starts_with("rate: found '[]', expected"));
        assert!(wrong(json!({ "scenario": "a" })).starts_with("found the scenario 'a' and no load, expected vus"));
        assert!(wrong(json!({ "scenario": 5, "vus": 1 })).starts_with("scenario: found 5, expected the name"));
    }
}
