//! Documents with every element of their formats: each value is carried over, named in a note, or listed in the table
//! of what means nothing. A value that changes neither script nor notes when it changes was dropped without a word.
//!
//! The documents are ours, made by the formats' manuals: JMeter's component reference, the schema of Postman's
//! collections 2.1, OpenAPI 3.0 and 3.1, HAR 1.2.

use std::collections::BTreeSet;

use onrush_convert::{Format, Settings, Style, from_text, is_meaningless, write_script};
use serde_json::Value;

/// What comes of a text: the script, and what is said.
struct Outcome {
    script: String,
    notes: Vec<String>,
}

fn outcome(format: Format, text: &str) -> Option<Outcome> {
    let style = Style { base_url: None, files: Some(String::from("script")) };
    let settings = Settings { style: style.clone(), ..Settings::plain() };
    let converted = from_text(format, text, &settings).ok()?;
    let notes = converted.notes.lines();
    let (script, files) = write_script(converted.test, &style);
    Some(Outcome { script: format!("{script}{files:?}"), notes })
}

impl Outcome {
    fn differs(&self, other: Option<&Outcome>) -> bool {
        other.is_none_or(|other| self.script != other.script || self.notes != other.notes)
    }
}

/// Other values of the same kind.
fn others(text: &str) -> Vec<String> {
    match (text, text.parse::<i64>()) {
        ("true", _) => vec![String::from("false")],
        ("false", _) => vec![String::from("true")],
        (_, Ok(number)) => vec![(number + 1).to_string()],
        (text, _) => vec![format!("{text}x"), format!("y{text}")],
    }
}

impl Outcome {
    /// Whether a note names an element, one of its properties, or an item that begins at one of these lines.
    fn names(&self, path: &[&str], places: &[usize]) -> bool {
        let says = |what: &str| self.notes.iter().any(|note| note.contains(what));
        let tag = path[0];
        let names = [format!("a {tag} has no counterpart"), format!("a {tag} below a sampler is left out")];
        let is_place = |line: &usize| {
            let place = format!("line {line}");
            self.notes
                .iter()
                .any(|note| note.split([',', ':']).any(|part| part.trim() == place) && note.contains("left out"))
        };
        names.iter().any(|name| says(name))
            || path[1..].iter().any(|name| says(name))
            || places[1..].iter().any(is_place)
    }
}

/// A line of the plan.
enum Line<'t> {
    Opens(&'t str),
    Closes,
    /// A name and a value.
    Property(&'t str, &'t str),
    Other,
}

fn line(text: &str) -> Line<'_> {
    let attribute = |name: &str| {
        let (_, rest) = text.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()
    };
    if text.starts_with("</") {
        return Line::Closes;
    }
    if let (Some(name), Some((_, rest))) = (attribute("name"), text.split_once("\">"))
        && let Some((value, _)) = rest.split_once("</")
    {
        return Line::Property(name, value);
    }
    match text.strip_prefix('<').filter(|rest| !rest.starts_with('?')) {
        Some(rest) if rest.starts_with("elementProp") || rest.starts_with("collectionProp") => {
            let is_of_jmeter = attribute("name").is_some_and(|name| name.contains('.') && name.contains("er."));
            let shown = if is_of_jmeter { attribute("name") } else { attribute("elementType").or(attribute("name")) };
            Line::Opens(shown.unwrap_or_default())
        }
        Some(rest) => Line::Opens(rest.split([' ', '>']).next().unwrap_or_default()),
        None => Line::Other,
    }
}

#[test]
fn every_property_of_jmeter() {
    let text = include_str!("whole/plan.jmx");
    let base = outcome(Format::Jmeter, text).expect("a plan");
    let lines: Vec<&str> = text.lines().collect();
    let mut open: Vec<(&str, usize)> = Vec::new();
    let (mut accounted, mut dropped, mut count) = (BTreeSet::new(), Vec::new(), 0);
    for (at, text) in lines.iter().enumerate() {
        let (name, value) = match line(text) {
            Line::Opens(name) => {
                open.push((name, at + 1));
                continue;
            }
            Line::Closes => {
                open.pop();
                continue;
            }
            Line::Property(name, value) => (name, value),
            Line::Other => continue,
        };
        count += 1;
        let begin = open.iter().rposition(|(name, _)| *name == "hashTree").map_or(0, |at| at + 1);
        let mut path: Vec<&str> = open[begin..].iter().map(|(name, _)| *name).collect();
        path.push(name);
        // What one element says of a property is the same for all.
        let key = if name.contains('.') { name.to_owned() } else { path.join("/") };
        let places: Vec<usize> = open[begin..].iter().map(|(_, line)| *line).collect();
        let changed = |other: String| {
            let mut changed = lines.clone();
            let other = text.replace(&format!(">{value}</"), &format!(">{other}</"));
            changed[at] = &other;
            base.differs(outcome(Format::Jmeter, &changed.join("\n")).as_ref())
        };
        let is_listed = is_meaningless(Format::Jmeter, &path) || base.names(&path, &places);
        match is_listed || others(value).into_iter().any(changed) {
            true => drop(accounted.insert(key)),
            false => dropped.push((key, format!("line {}: {} = '{value}'", at + 1, path.join("/")))),
        }
    }
    dropped.retain(|(key, _)| !accounted.contains(key));
    assert!(count > 700, "{count} properties");
    assert!(dropped.is_empty(), "dropped without a word:\n{dropped:#?}");
}

/// Every leaf with its way, and whether an ancestor of it is named.
struct Walk<'v> {
    format: Format,
    whole: &'v Value,
    base: Outcome,
    dropped: Vec<String>,
    count: usize,
}

impl Walk<'_> {
    fn check(format: Format, whole: &Value) -> usize {
        let base = outcome(format, &whole.to_string()).expect("a document");
        let mut walk = Walk { format, whole, base, dropped: Vec::new(), count: 0 };
        walk.value(whole, &mut Vec::new());
        assert!(walk.dropped.is_empty(), "dropped without a word:\n{}", walk.dropped.join("\n"));
        walk.count
    }

    fn value(&mut self, value: &Value, way: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    way.push(name.clone());
                    self.value(value, way);
                    way.pop();
                }
            }
            Value::Array(items) => {
                for (at, value) in items.iter().enumerate() {
                    way.push(at.to_string());
                    self.value(value, way);
                    way.pop();
                }
            }
            Value::Null => {}
            leaf => self.leaf(leaf, way),
        }
    }

    fn leaf(&mut self, leaf: &Value, way: &[String]) {
        self.count += 1;
        let others = match leaf {
            Value::Bool(value) => vec![Value::from(!value)],
            Value::Number(number) => vec![Value::from(number.as_f64().unwrap_or_default() + 1.0)],
            other => others(other.as_str().unwrap_or_default()).into_iter().map(Value::from).collect(),
        };
        let prefixes = (1..=way.len()).map(|length| &way[..length]);
        if prefixes.clone().any(|way| self.is_listed(way)) {
            return;
        }
        let is_seen = others.into_iter().any(|other| self.differs(way, Some(other)));
        if is_seen || prefixes.rev().any(|way| self.is_named(way)) {
            return;
        }
        self.dropped.push(format!("/{} = {leaf}", way.join("/")));
    }

    fn is_listed(&self, way: &[String]) -> bool {
        let is_place = |part: &&str| !part.bytes().all(|b| b.is_ascii_digit()) || part.len() == 3;
        let mut path: Vec<&str> = way.iter().map(String::as_str).filter(is_place).collect();
        if self.format == Format::Har {
            path.retain(|part| *part != "log");
            if path.first() == Some(&"entries") {
                path.remove(0);
            }
        }
        is_meaningless(self.format, &path)
    }

    fn changed(&self, way: &[String], value: Option<Value>) -> Value {
        let mut whole = self.whole.clone();
        let (last, above) = way.split_last().expect("a way");
        let pointer: String =
            above.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect();
        match (whole.pointer_mut(&pointer), value) {
            (Some(Value::Object(fields)), Some(value)) => drop(fields.insert(last.clone(), value)),
            (Some(Value::Object(fields)), None) => drop(fields.shift_remove(last)),
            (Some(Value::Array(items)), Some(value)) => items[last.parse::<usize>().expect("a place")] = value,
            (Some(Value::Array(items)), None) => drop(items.remove(last.parse().expect("a place"))),
            _ => {}
        }
        whole
    }

    fn differs(&self, way: &[String], value: Option<Value>) -> bool {
        self.base.differs(outcome(self.format, &self.changed(way, value).to_string()).as_ref())
    }

    /// Whether a note that has the name of a field goes away with it.
    fn is_named(&self, way: &[String]) -> bool {
        let Some(name) = way.last() else { return false };
        let Some(without) = outcome(self.format, &self.changed(way, None).to_string()) else { return false };
        let gone = self.base.notes.iter().filter(|note| !without.notes.contains(note));
        let is_item = name.bytes().all(|b| b.is_ascii_digit());
        gone.into_iter().any(|note| note.contains(if is_item { "left out" } else { name.as_str() }))
    }
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn every_field_of_postman() {
    let count = Walk::check(Format::Postman, &document(include_str!("whole/collection.json")));
    assert!(count > 200, "{count} fields");
}

#[test]
fn every_field_of_openapi() {
    let three = Walk::check(Format::OpenApi, &document(include_str!("whole/openapi-3.0.json")));
    let later = Walk::check(Format::OpenApi, &document(include_str!("whole/openapi-3.1.json")));
    assert!(three > 150 && later > 50, "{three} and {later} fields");
}

#[test]
fn every_field_of_har() {
    let count = Walk::check(Format::Har, &document(include_str!("whole/recording.har")));
    assert!(count > 80, "{count} fields");
}

#[test]
fn what_no_format_knows_is_named() {
    for (format, text, way, said) in [
        (Format::Postman, include_str!("whole/collection.json"), "/item/0/request", "request.brandNew is left out"),
        (Format::Har, include_str!("whole/recording.har"), "/log/entries/0/request", "request.brandNew is left out"),
        (Format::OpenApi, include_str!("whole/openapi-3.0.json"), "/paths/~1a~1{id}/post", "brandNew is left out"),
    ] {
        let mut whole = document(text);
        let Some(Value::Object(fields)) = whole.pointer_mut(way) else { panic!("{way} is an object") };
        fields.insert(String::from("brandNew"), Value::from("x"));
        let notes = outcome(format, &whole.to_string()).expect("a document").notes;
        assert!(notes.iter().any(|note| note.contains(said)), "{notes:?}");
    }
    let text = include_str!("whole/plan.jmx");
    let text = text.replacen(
        "<HTTPSamplerProxy ",
        "<NewSampler testname=\"n\"><a.b/></NewSampler><hashTree/><HTTPSamplerProxy new=\"x\" ",
        1,
    );
    let notes = outcome(Format::Jmeter, &text).expect("a plan").notes;
    for said in ["a NewSampler has no counterpart", "new of a HTTPSamplerProxy is left out"] {
        assert!(notes.iter().any(|note| note.contains(said)), "{said} in {notes:#?}");
    }
}
