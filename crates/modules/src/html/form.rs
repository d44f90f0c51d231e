//! Values of form fields and what a form sends.
//!
//! As k6 does, checkboxes and radio buttons send nothing, whether they are checked or not, and disabled fields send
//! their values. Scripts give such fields in `fields`.

use super::document::{Document, NodeId};

/// The value of a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FieldValue {
    One(String),
    /// Of `<select multiple>`.
    Many(Vec<String>),
}

const FIELDS: &[&str] = &["input", "select", "textarea"];

/// Fields that send nothing by themselves.
const SILENT: &[&str] = &["button", "checkbox", "file", "image", "radio", "reset", "submit"];

impl Document {
    /// The value of a form field; nothing for other elements.
    pub(super) fn field_value(&self, id: NodeId) -> Option<FieldValue> {
        let attribute = |name| self.attribute(id, name);
        match self.tag(id) {
            "input" => {
                let boxed = matches!(attribute("type"), Some("checkbox" | "radio"));
                let absent = if boxed { "on" } else { "" };
                Some(FieldValue::One(attribute("value").unwrap_or(absent).to_owned()))
            }
            "button" => Some(FieldValue::One(attribute("value").unwrap_or_default().to_owned())),
            "option" => Some(FieldValue::One(self.option_value(id))),
            "textarea" => Some(FieldValue::One(self.text(id))),
            "select" => {
                let mut chosen = self.selected_options(id).map(|option| self.option_value(option));
                Some(match attribute("multiple") {
                    Some(_) => FieldValue::Many(chosen.collect()),
                    None => FieldValue::One(chosen.next().unwrap_or_default()),
                })
            }
            _ => None,
        }
    }

    /// The value of an option: its attribute, else its text.
    pub(super) fn option_value(&self, id: NodeId) -> String {
        self.attribute(id, "value").map_or_else(|| self.text(id), str::to_owned)
    }

    /// The options of a field that are selected.
    pub(super) fn selected_options(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.descendants_named(id, &["option"]).filter(|option| self.attribute(*option, "selected").is_some())
    }

    /// The fields of forms, and the nodes that are fields themselves, with name and value.
    pub(super) fn submitted(&self, nodes: &[NodeId]) -> Vec<(String, FieldValue)> {
        let fields = nodes.iter().flat_map(|id| match self.tag(*id) {
            "form" => self.descendants_named(*id, FIELDS).collect(),
            tag if FIELDS.contains(&tag) => vec![*id],
            _ => Vec::new(),
        });
        let sends = |id: &NodeId| !SILENT.contains(&self.attribute(*id, "type").unwrap_or_default());
        let named = fields.filter(sends).filter_map(|id| {
            let name = self.attribute(id, "name").filter(|name| !name.is_empty())?;
            Some((name.to_owned(), self.field_value(id)?))
        });
        named.collect()
    }
}

/// The same with each name once: the last of them.
pub(super) fn by_name(fields: Vec<(String, FieldValue)>) -> Vec<(String, FieldValue)> {
    let mut named: Vec<(String, FieldValue)> = Vec::new();
    for (name, value) in fields {
        match named.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => named.push((name, value)),
        }
    }
    named
}

/// Names and values as `application/x-www-form-urlencoded`, by name.
pub(super) fn urlencoded(mut fields: Vec<(String, FieldValue)>) -> String {
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut out = form_urlencoded::Serializer::new(String::new());
    for (name, value) in &fields {
        match value {
            FieldValue::One(value) => _ = out.append_pair(name, value),
            FieldValue::Many(values) => values.iter().for_each(|value| _ = out.append_pair(name, value)),
        }
    }
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_sends_its_fields() {
        let text = "<form><input name=a value='1 2'><input name=a value=&><input type=checkbox name=c checked>\
                    <input name='' value=q><input type=submit name=s value=S><select name=e></select>\
                    <select name=m multiple><option selected>A<option selected value=B>b</select>\
                    <textarea name=t>\nline</textarea></form><input name=out value=o>";
        let document = Document::parse(text, "");
        let form: Vec<NodeId> = document.descendants_named(Document::ROOT, &["form"]).collect();
        let fields = document.submitted(&form);
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "a", "e", "m", "t"]);
        assert_eq!(urlencoded(by_name(fields)), "a=%26&e=&m=A&m=B&t=line");
        assert!(document.submitted(&[Document::ROOT]).is_empty());
    }
}
