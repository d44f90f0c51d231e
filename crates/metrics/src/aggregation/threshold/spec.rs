//! The `thresholds` option as written, and its check against the metrics of a run.
//!
//! Two forms for each entry: the expression alone, or an object with `threshold`, `abortOnFail` and `delayAbortEval`.
//! Nothing is judged here.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use units::Span;

use super::Target;
use super::parse::{Aggregation, Expression, parse};
use crate::naming::metric::Kind;
use crate::naming::tags::TagFilter;
use crate::registry::Registry;

/// The `thresholds` option: for each metric or sub-metric its thresholds in the order given.
pub type ThresholdSpecs = BTreeMap<String, Vec<ThresholdSpec>>;

/// One threshold as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdSpec {
    /// The expression, `p(95)<500`.
    pub threshold: String,
    /// Whether the test ends when it does not hold.
    pub abort_on_fail: bool,
    /// How long after the start it may not end the test yet; as written, `10s` or a number of ms.
    pub delay_abort_eval: Option<String>,
}

/// A threshold that cannot be used. The message has the expression and a caret below it where that helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdError {
    /// The key of the option.
    pub metric: String,
    /// The expression, or the key when that is at fault.
    pub source: String,
    /// Bytes of `source` at fault.
    pub span: Range<usize>,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ThresholdError { metric, source, span, message } = self;
        let blanks = source[..span.start].chars().count();
        let carets = source[span.clone()].chars().count().max(1);
        write!(f, "threshold on '{metric}': {message}\n  {source}\n  {:blanks$}{:^<carets$}", "", "")
    }
}

impl std::error::Error for ThresholdError {}

/// A threshold ready to be judged.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// Of its metric.
    pub kind: Kind,
    pub expression: Expression,
    pub abort_on_fail: bool,
    pub delay_abort_eval: Duration,
}

/// Checks the thresholds of one key, making the sub-metric it names.
pub(crate) fn resolve(
    key: &str,
    specs: &[ThresholdSpec],
    registry: &Registry,
) -> Result<(Target, Vec<Resolved>), ThresholdError> {
    let fail = |source: &str, span: Range<usize>, message: String| {
        Err(ThresholdError { metric: key.to_owned(), source: source.to_owned(), span, message })
    };
    let (name, filter) = split_key(key)?;
    let Some(metric) = registry.find(name) else {
        let hint = registry.hint(name);
        let message = format!("no metric named '{name}'{hint} (custom metrics must be made in the init code)");
        return fail(key, 0..name.len(), message);
    };
    let kind = registry.definition(metric).kind;
    let mut resolved = Vec::new();
    for spec in specs {
        let source = &spec.threshold;
        let expression = match parse(source) {
            Ok(expression) => expression,
            Err(error) => return fail(source, error.span, error.message),
        };
        if !expression.aggregation.fits(kind) {
            let start = source.find(&expression.label).unwrap_or(0);
            let expected = Aggregation::names_for(kind).join(", ");
            let (aggregation, kind) = (expression.aggregation.name(), kind.name());
            let message = format!("a {kind} has no '{aggregation}', expected one of {expected}");
            return fail(source, start..start + expression.label.len(), message);
        }
        let delay = spec.delay_abort_eval.as_deref().unwrap_or("0");
        let Some(delay_abort_eval) = delay_of(delay) else {
            let message = "invalid delayAbortEval, expected a duration such as 10s or a number of ms".to_owned();
            return fail(delay, 0..delay.len(), message);
        };
        resolved.push(Resolved { kind, expression, abort_on_fail: spec.abort_on_fail, delay_abort_eval });
    }
    let target = filter.map_or(Target::Metric(metric), |filter| Target::Sub(registry.sub_metric(metric, filter)));
    Ok((target, resolved))
}

/// `name` or `name{filter}`.
pub(crate) fn split_key(key: &str) -> Result<(&str, Option<TagFilter>), ThresholdError> {
    let fail = |span: Range<usize>, message: String| {
        Err(ThresholdError { metric: key.to_owned(), source: key.to_owned(), span, message })
    };
    let Some(open) = key.find('{') else {
        return match key.find('}') {
            Some(at) => fail(at..at + 1, "closing brace without an opening one".to_owned()),
            None => Ok((key.trim(), None)),
        };
    };
    let Some(inside) = key[open + 1..].strip_suffix('}') else {
        return fail(key.len()..key.len(), "no closing brace at the end, expected metric{tag:value}".to_owned());
    };
    match TagFilter::parse(inside) {
        Ok(filter) => Ok((key[..open].trim(), Some(filter))),
        Err(error) => fail(open + 1 + error.span.start..open + 1 + error.span.end, error.to_string()),
    }
}

/// A time by k6's rule, at least 0.
fn delay_of(text: &str) -> Option<Duration> {
    Span::parse(text).ok()?.to_duration()
}

impl<'de> Deserialize<'de> for ThresholdSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpecVisitor)
    }
}

struct SpecVisitor;

impl<'de> de::Visitor<'de> for SpecVisitor {
    type Value = ThresholdSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a threshold such as \"p(95)<500\", or an object {threshold, abortOnFail, delayAbortEval}")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ThresholdSpec, E> {
        Ok(ThresholdSpec { threshold: text.to_owned(), abort_on_fail: false, delay_abort_eval: None })
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<ThresholdSpec, A::Error> {
        let object = SpecObject::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(ThresholdSpec {
            threshold: object.threshold,
            abort_on_fail: object.abort_on_fail.unwrap_or(false),
            delay_abort_eval: object.delay_abort_eval.map(|Delay(text)| text),
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecObject {
    threshold: String,
    abort_on_fail: Option<bool>,
    delay_abort_eval: Option<Delay>,
}

/// A duration given as text or as a number of milliseconds.
struct Delay(String);

impl<'de> Deserialize<'de> for Delay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Delay;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration such as \"10s\" or a number of ms")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Delay, E> {
                Ok(Delay(text.to_owned()))
            }
            fn visit_u64<E: de::Error>(self, ms: u64) -> Result<Delay, E> {
                Ok(Delay(ms.to_string()))
            }
            fn visit_i64<E: de::Error>(self, ms: i64) -> Result<Delay, E> {
                Ok(Delay(ms.to_string()))
            }
            fn visit_f64<E: de::Error>(self, ms: f64) -> Result<Delay, E> {
                Ok(Delay(ms.to_string()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for ThresholdSpec {
    /// The short form where it says everything, as k6 writes options back.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Object<'a> {
            threshold: &'a str,
            abort_on_fail: bool,
            delay_abort_eval: Option<&'a str>,
        }
        if !self.abort_on_fail && self.delay_abort_eval.is_none() {
            return serializer.serialize_str(&self.threshold);
        }
        let delay_abort_eval = self.delay_abort_eval.as_deref();
        Object { threshold: &self.threshold, abort_on_fail: self.abort_on_fail, delay_abort_eval }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(key: &str, expression: &str) -> String {
        let spec = ThresholdSpec {
            threshold: expression.to_owned(),
            abort_on_fail: false,
            delay_abort_eval: Some("1s".into()),
        };
        resolve(key, &[spec], &Registry::new()).unwrap_err().to_string()
    }

    #[test]
    fn messages_point_at_the_fault() {
        assert_eq!(
            error("http_req_durration", "p(95)<5"),
            "threshold on 'http_req_durration': no metric named 'http_req_durration'; did you mean \
             'http_req_duration'? \
             (custom metrics must be made in the init code)\n  http_req_durration\n  ^^^^^^^^^^^^^^^^^^"
        );
        assert_eq!(
            error("checks", "p(95)<5"),
            "threshold on 'checks': a rate has no 'p', expected one of rate\n  p(95)<5\n  ^^^^^"
        );
        assert_eq!(
            error("checks", "rate<"),
            "threshold on 'checks': no number found after '<', expected one such as 500 or 0.95\n  rate<\n       ^"
        );
        assert_eq!(
            error("checks{status}", "rate<1"),
            "threshold on 'checks{status}': 'status' is not a tag filter, expected tag:value\n  \
             checks{status}\n         ^^^^^^"
        );
        assert_eq!(
            error("checks{a:b", "rate<1"),
            "threshold on 'checks{a:b': no closing brace at the end, expected metric{tag:value}\n  \
             checks{a:b\n            ^"
        );
        for key in ["checks{}", "checks}", "checks{a:b}x", "", "{a:b}"] {
            assert!(error(key, "rate<1").starts_with(&format!("threshold on '{key}': ")));
        }
    }

    fn read(json: &str) -> Result<ThresholdSpecs, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn both_forms_are_read_and_written_back() {
        let json = concat!(
            r#"{"checks":["rate>0.9",{"threshold":"rate>0.5","abortOnFail":true,"delayAbortEval":"10s"}],"#,
            r#""vus":[{"threshold":"value<5","abortOnFail":true,"delayAbortEval":"1500"}]}"#
        );
        let specs = read(json).unwrap();
        assert_eq!(specs["checks"][1].delay_abort_eval.as_deref(), Some("10s"));
        assert_eq!(serde_json::to_string(&specs).unwrap(), json);
        let short = read(r#"{"vus":[{"threshold":"value<5","delayAbortEval":1500,"abortOnFail":true}]}"#).unwrap();
        assert_eq!(short["vus"], specs["vus"]);
        let null = read(r#"{"vus":[{"threshold":"value<5","delayAbortEval":null}]}"#).unwrap();
        assert_eq!(serde_json::to_string(&null).unwrap(), r#"{"vus":["value<5"]}"#);
    }

    #[test]
    fn other_forms_are_refused() {
        let error = read(r#"{"vus":[5]}"#).unwrap_err();
        let expected =
            "expected a threshold such as \"p(95)<500\", or an object {threshold, abortOnFail, delayAbortEval}";
        assert!(error.starts_with(&format!("invalid type: integer `5`, {expected}")), "{error}");
        assert!(read(r#"{"vus":[{"abortOnFail":true}]}"#).unwrap_err().starts_with("missing field `threshold`"));
        // k6 passes over what it does not know, and scripts put remarks there.
        assert!(read(r#"{"vus":[{"threshold":"value<5","why":"small machine"}]}"#).is_ok());
    }

    #[test]
    fn delays_are_durations() {
        assert_eq!(delay_of("1m30s"), Some(Duration::from_secs(90)));
        assert_eq!(delay_of("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(delay_of("250"), Some(Duration::from_millis(250)));
        for bad in ["", "s", "-5", "10x", "10s5"] {
            assert_eq!(delay_of(bad), None, "{bad}");
        }
    }
}
