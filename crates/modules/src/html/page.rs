//! What a response does with its document: which request a form or a link leads to. Plain; `http/response/page.rs`
//! sends it.

use super::document::{Document, NodeId};
use super::form::{FieldValue, by_name, urlencoded};
use super::links::absolute;
use super::selector::CssSelector;

/// What sending a form means.
pub(crate) struct Submission {
    /// In upper case.
    pub method: String,
    /// Where to, absolute.
    pub action: String,
    /// Names and values; the values of one name together.
    pub fields: Vec<(String, Vec<String>)>,
}

/// Why a link cannot be followed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoLink {
    /// No element is selected.
    NoElement,
    /// It leads nowhere.
    NoHref,
}

/// What a selector selects in the whole document; nothing when it cannot be read.
fn selected(document: &Document, selector: &str) -> Vec<NodeId> {
    let selector = CssSelector::read(selector);
    selector.map(|selector| selector.select(document, Document::ROOT).collect()).unwrap_or_default()
}

impl Submission {
    /// The first form that a selector selects, sent by a button. As in k6, the fields of all selected forms go along.
    pub(crate) fn of(document: &Document, form: &str, button: &str) -> Option<Submission> {
        let forms = selected(document, form);
        let first = *forms.first()?;
        let mut fields = document.submitted(&forms);
        if let Some(button) = selected(document, button).first() {
            let name = document.attribute(*button, "name").filter(|name| !name.is_empty());
            fields.extend(name.map(|name| (name.to_owned(), document.field_value(*button))).and_then(named));
        }
        let fields = by_name(fields).into_iter().map(|(name, value)| match value {
            FieldValue::One(value) => (name, vec![value]),
            FieldValue::Many(values) => (name, values),
        });
        Some(Submission {
            method: document.attribute(first, "method").filter(|m| !m.is_empty()).unwrap_or("get").to_ascii_uppercase(),
            action: match document.attribute(first, "action") {
                Some(action) => absolute(document, action),
                None => document.url().to_owned(),
            },
            fields: fields.collect(),
        })
    }

    /// Replaces the values of a name.
    pub(crate) fn set(&mut self, name: String, values: Vec<String>) {
        match self.fields.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = values,
            None => self.fields.push((name, values)),
        }
    }

    /// The address with the fields as its query, in the place of the one it has: a form that is sent by GET.
    pub(crate) fn with_query(self) -> String {
        let mut address = self.action.as_str();
        address = address.split_once('#').map_or(address, |(address, _)| address);
        address = address.split_once('?').map_or(address, |(address, _)| address);
        let fields = self.fields.into_iter().map(|(name, values)| (name, FieldValue::Many(values)));
        format!("{address}?{}", urlencoded(fields.collect()))
    }
}

fn named((name, value): (String, Option<FieldValue>)) -> Option<(String, FieldValue)> {
    Some((name, value?))
}

/// Where the first element that a selector selects leads to.
pub(crate) fn link(document: &Document, selector: &str) -> Result<String, NoLink> {
    let element = *selected(document, selector).first().ok_or(NoLink::NoElement)?;
    let href = document.attribute(element, "href").filter(|href| !href.is_empty()).ok_or(NoLink::NoHref)?;
    Ok(absolute(document, href))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<form id=a action='../x?k=1' method=POST><input name=a value=1><select multiple name=m>\
        <option selected>A<option selected>B</select><input type=submit name=s value=S>\
        <button name=t value=T></button></form>\
        <form id=b action='/g?old=1#f'><input name=q value='a b'></form><form id=c></form>\
        <a>no</a><a href='rel/y?z=1'>yes</a>";

    #[test]
    fn forms_lead_to_requests() {
        let document = Document::parse(PAGE, "http://h/page/sub/?p=1");
        let sent = Submission::of(&document, "#a", "[type=submit]").expect("there is one");
        assert_eq!((sent.method.as_str(), sent.action.as_str()), ("POST", "http://h/page/x?k=1"));
        let fields: Vec<_> = sent.fields.iter().map(|(name, values)| format!("{name}={}", values.join("+"))).collect();
        assert_eq!(fields, ["a=1", "m=A+B", "s=S"]);
        let sent = Submission::of(&document, "#a", "[name=t]").expect("there is one");
        assert_eq!(sent.fields.last(), Some(&(String::from("t"), vec![String::from("T")])));
        let mut sent = Submission::of(&document, "#b", "none").expect("there is one");
        sent.set(String::from("n"), vec![String::from("1"), String::from("2")]);
        assert_eq!(sent.with_query(), "http://h/g?n=1&n=2&q=a+b");
        let sent = Submission::of(&document, "#c", "none").expect("there is one");
        assert_eq!((sent.method.as_str(), sent.action.as_str()), ("GET", "http://h/page/sub/?p=1"));
        assert!(Submission::of(&document, "#d", "none").is_none());
    }

    #[test]
    fn links_lead_to_addresses() {
        let document = Document::parse(PAGE, "http://h/page/sub/?p=1");
        assert_eq!(link(&document, "a[href]"), Ok(String::from("http://h/page/sub/rel/y?z=1")));
        assert_eq!(link(&document, "a"), Err(NoLink::NoHref));
        assert_eq!(link(&document, "b"), Err(NoLink::NoElement));
    }
}
