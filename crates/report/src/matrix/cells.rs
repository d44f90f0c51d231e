//! Axes and the cells they span: every combination of one value each, the last axis changing fastest.
//!
//! An axis's value is known by its name; a value that is a table has fields besides, for templates. Axes cannot take
//! the names of what only the runner knows, as `port`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::plan::PlanError;
use super::template;

/// What only the runner knows: no axis may take these names.
const RESERVED: [&str; 10] =
    ["variant", "base", "port", "tls_port", "stats_port", "unix", "aunix", "folder", "scratch", "onrush"];
/// What gives way to an axis of the same name.
const REPLACEABLE: [&str; 4] = ["round", "connections", "duration", "seconds"];

/// What templates know without any axis.
pub fn built_in() -> impl Iterator<Item = &'static str> {
    RESERVED.into_iter().chain(REPLACEABLE)
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisValue {
    /// As the tables show it.
    pub name: String,
    /// Fields of a value that is a table.
    pub fields: BTreeMap<String, String>,
}

/// One combination of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Axis and value, in the plan's order.
    pub axes: Vec<(String, AxisValue)>,
}

impl Cell {
    /// `size=1k body=string`; empty without axes.
    pub fn label(&self) -> String {
        let pairs: Vec<String> = self.axes.iter().map(|(axis, value)| format!("{axis}={}", value.name)).collect();
        pairs.join(" ")
    }

    /// The name of an axis's value, or what a field of it holds: `size`, `size.bytes`.
    pub fn value_of(&self, name: &str) -> Option<String> {
        let (axis, field) = match name.split_once('.') {
            Some((axis, field)) => (axis, Some(field)),
            None => (name, None),
        };
        let (_, value) = self.axes.iter().find(|(known, _)| known == axis)?;
        match field {
            None => Some(value.name.clone()),
            Some(field) => value.fields.get(field).cloned(),
        }
    }

    /// Names of the values by axis, as results keep them.
    pub fn names(&self) -> BTreeMap<String, String> {
        self.axes.iter().map(|(axis, value)| (axis.clone(), value.name.clone())).collect()
    }
}

/// All cells of these axes; a plan without axes has one.
pub fn cells(axes: &Map<String, Value>) -> Result<Vec<Cell>, PlanError> {
    let mut cells = vec![Cell { axes: Vec::new() }];
    for (axis, values) in axes {
        let values = axis_values(axis, values)?;
        cells = cells
            .iter()
            .flat_map(|cell| {
                values.iter().map(|value| {
                    let mut axes = cell.axes.clone();
                    axes.push((axis.clone(), value.clone()));
                    Cell { axes }
                })
            })
            .collect();
    }
    Ok(cells)
}

/// The values of one axis, checked.
fn axis_values(axis: &str, values: &Value) -> Result<Vec<AxisValue>, PlanError> {
    let refuse = |problem: String| Err(PlanError::near(format!("axis '{axis}': {problem}"), axis));
    if !template::is_name(axis) || axis.contains('.') {
        return refuse(String::from("a name has letters, digits, _ and -, a letter first"));
    }
    if RESERVED.contains(&axis) {
        return refuse(format!("{{{axis}}} stands for something else already; call the axis something else"));
    }
    let Value::Array(values) = values else {
        return refuse(format!("found {values}, expected a list of values, as [\"1k\", \"10k\"]"));
    };
    if values.is_empty() {
        return refuse(String::from("it has no values, expected one or more"));
    }
    let values = values.iter().map(|value| axis_value(axis, value)).collect::<Result<Vec<_>, _>>()?;
    for (at, value) in values.iter().enumerate() {
        if values[..at].iter().any(|before| before.name == value.name) {
            return refuse(format!("the value '{}' appears twice", value.name));
        }
    }
    Ok(values)
}

fn axis_value(axis: &str, value: &Value) -> Result<AxisValue, PlanError> {
    let refuse = |problem: String| Err(PlanError::near(format!("axis '{axis}': {problem}"), axis));
    let Value::Object(table) = value else {
        return match scalar(value) {
            Some(name) => Ok(AxisValue { name, fields: BTreeMap::new() }),
            None => refuse(format!("found {value}, expected a text, a number, true, false or a table with a name")),
        };
    };
    let Some(name) = table.get("name").and_then(scalar) else {
        return refuse(format!("found {value}, expected a table with a name, as {{ name = \"small\", bytes = 10 }}"));
    };
    let mut fields = BTreeMap::new();
    for (field, value) in table {
        match scalar(value) {
            Some(text) => fields.insert(field.clone(), text),
            None => return refuse(format!("field '{field}': found {value}, expected a text, a number, true or false")),
        };
    }
    Ok(AxisValue { name, fields })
}

/// The text of a plain value.
pub fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(axes: Value) -> Result<Vec<String>, String> {
        let Value::Object(axes) = axes else { panic!("a table") };
        cells(&axes).map(|cells| cells.iter().map(Cell::label).collect()).map_err(|error| error.message)
    }

    #[test]
    fn cells_are_all_combinations() {
        let labels = of(json!({"size": ["1k", 10], "tls": [true, false]})).unwrap();
        assert_eq!(labels, ["size=1k tls=true", "size=1k tls=false", "size=10 tls=true", "size=10 tls=false"]);
        assert_eq!(of(json!({})), Ok(vec![String::new()]));
    }

    #[test]
    fn tables_have_fields() {
        let Value::Object(axes) = json!({"size": [{"name": "small", "bytes": 10}]}) else { panic!("a table") };
        let cell = &cells(&axes).unwrap()[0];
        assert_eq!(cell.value_of("size"), Some(String::from("small")));
        assert_eq!(cell.value_of("size.bytes"), Some(String::from("10")));
        assert_eq!((cell.value_of("size.x"), cell.value_of("other")), (None, None));
    }

    #[test]
    fn axes_that_make_no_sense_are_refused() {
        for (axes, problem) in [
            (json!({"size": []}), "axis 'size': it has no values, expected one or more"),
            (json!({"size": "1k"}), "axis 'size': found \"1k\", expected a list of values, as [\"1k\", \"10k\"]"),
            (json!({"size": [1, 1]}), "axis 'size': the value '1' appears twice"),
            (
                json!({"port": [1]}),
                "axis 'port': {port} stands for something else already; call the axis something else",
            ),
            (json!({"a b": [1]}), "axis 'a b': a name has letters, digits, _ and -, a letter first"),
            (json!({"a": [[1]]}), "axis 'a': found [1], expected a text, a number, true, false or a table with a name"),
        ] {
            assert_eq!(of(axes), Err(problem.to_owned()));
        }
    }
}
