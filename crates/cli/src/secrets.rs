//! What of options and plans is secret when they are kept in a result: values whose names say so (the `env` of a
//! scenario, say), and the secrets of URLs anywhere. What is run is never made of what was masked.

use std::borrow::Cow;
use std::sync::Arc;

use journal::Redact;
use metrics::Shard;
use script::secrets::Secrets;
use serde_json::Value;
use wire::mask::Mask;

/// Hides the secrets that the script was given in a journal.
struct OfScript(Arc<Secrets>);

impl Redact for OfScript {
    fn json(&self, head: Value) -> Value {
        self.0.redactor().json(head)
    }

    fn samples(&self, samples: &mut Shard) -> bool {
        let (redactor, mut has_redacted) = (self.0.redactor(), false);
        if redactor.is_needed() {
            samples.each_text(|text| {
                if let Cow::Owned(redacted) = redactor.text(text) {
                    (*text, has_redacted) = (redacted, true);
                }
            });
        }
        has_redacted
    }
}

/// What hides these secrets in a journal.
pub fn hiding(secrets: &Arc<Secrets>) -> Box<dyn Redact> {
    Box::new(OfScript(Arc::clone(secrets)))
}

/// The same value without its secrets.
pub fn masked(value: Value, mask: &Mask) -> Value {
    let field = |(name, value): (String, Value)| match value {
        Value::String(text) if !text.is_empty() && mask.hides(&name) => (name, Value::from("****")),
        value => (masked_key(&name, mask), masked(value, mask)),
    };
    match value {
        Value::String(text) => Value::String(mask.text(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(|item| masked(item, mask)).collect(),
        Value::Object(fields) => Value::Object(fields.into_iter().map(field).collect()),
        other => other,
    }
}

/// The key of a threshold, `metric{url:http://h/?token=abc}`, with the secrets of its URLs masked; other names as they
/// are.
pub fn masked_key(key: &str, mask: &Mask) -> String {
    let Some((metric, filter)) = key.split_once('{') else { return key.to_owned() };
    let (pairs, end) = filter.strip_suffix('}').map_or((filter, ""), |pairs| (pairs, "}"));
    let pairs: Vec<_> = pairs.split(',').map(|pair| mask.url(pair)).collect();
    format!("{metric}{{{}{end}", pairs.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_and_urls_are_masked_by_name() {
        let options = json!({
            "scenarios": { "a": { "env": { "API_TOKEN": "t", "HOST": "http://u:p@h/?sig=1", "DB_PASSWORD": "" } } },
            "thresholds": { "http_reqs{url:http://h/?token=x,method:GET}": ["count>0"], "checks": ["rate>0"] },
            "token": ["a list is no value"],
            "userAgent": null,
        });
        let expected = json!({
            "scenarios": {
                "a": { "env": { "API_TOKEN": "****", "HOST": "http://****:****@h/?sig=****", "DB_PASSWORD": "" } }
            },
            "thresholds": { "http_reqs{url:http://h/?token=****,method:GET}": ["count>0"], "checks": ["rate>0"] },
            "token": ["a list is no value"],
            "userAgent": null,
        });
        assert_eq!(masked(options, &Mask::standard()), expected);
    }
}
