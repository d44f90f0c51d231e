//! From nodes back to text, escaped as Go's library escapes, because scripts compare what `html()` gives.

use std::fmt::Write;

use super::{Document, NodeData, NodeId};

/// Elements that have no end tag.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param", "source", "track",
    "wbr",
];

/// Elements whose text is written as it is.
const RAW: &[&str] = &["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "xmp"];

impl Document {
    /// What is inside of a node.
    pub fn inner_html(&self, id: NodeId) -> String {
        let mut out = String::new();
        // The elements that are open, and where each ends.
        let mut open: Vec<NodeId> = vec![id];
        for node in self.below(id) {
            self.close_until(&mut open, node, &mut out);
            self.write_start(node, &mut out);
            if self.is_element(node) {
                open.push(node);
            }
        }
        self.close_until(&mut open, self.node(id).end, &mut out);
        out
    }

    /// Writes the end tags of the elements, but for the first, that do not reach as far as this node.
    fn close_until(&self, open: &mut Vec<NodeId>, node: NodeId, out: &mut String) {
        while let [_, .., last] = open[..] {
            if self.node(last).end > node {
                break;
            }
            open.pop();
            let tag = self.tag(last);
            if !VOID.contains(&tag) {
                _ = write!(out, "</{tag}>");
            }
        }
    }

    fn write_start(&self, id: NodeId, out: &mut String) {
        match &self.node(id).data {
            NodeData::Document => {}
            NodeData::Doctype(written) => out.push_str(written),
            NodeData::Comment(text) => _ = write!(out, "<!--{text}-->"),
            NodeData::Text(text) => match self.parent(id).is_some_and(|parent| RAW.contains(&self.tag(parent))) {
                true => out.push_str(text),
                false => escape(text, out),
            },
            NodeData::Element(element) => {
                _ = write!(out, "<{}", element.name.local);
                for attribute in &element.attributes {
                    out.push(' ');
                    if let Some(prefix) = &attribute.name.prefix {
                        _ = write!(out, "{prefix}:");
                    }
                    _ = write!(out, "{}=\"", attribute.name.local);
                    escape(&attribute.value, out);
                    out.push('"');
                }
                out.push_str(if VOID.contains(&&*element.name.local) { "/>" } else { ">" });
                self.write_first_line(id, out);
            }
        }
    }

    /// A line break at the beginning of these elements is read as nothing, so one that is there is written twice.
    fn write_first_line(&self, id: NodeId, out: &mut String) {
        if !matches!(self.tag(id), "pre" | "listing" | "textarea") {
            return;
        }
        if let Some(NodeData::Text(text)) = self.first_child(id).map(|child| &self.node(child).data)
            && text.starts_with('\n')
        {
            out.push('\n');
        }
    }
}

fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '\'', '<', '>', '"', '\r']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'\'' => "&#39;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&#34;",
            _ => "&#13;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_is_written() {
        for (text, expected) in [
            ("<p title='a\"b'>x &amp; y<br>z", "<p title=\"a&#34;b\">x &amp; y<br/>z</p>"),
            ("<script>a<b</script>'", "<script>a<b</script>"),
            ("<pre>\n\nx</pre><i></i><!--c-->", "<pre>\n\nx</pre><i></i><!--c-->"),
            ("<div><ul><li>1<li>2</ul></div>z", "<div><ul><li>1</li><li>2</li></ul></div>z"),
        ] {
            let document = Document::parse(text, "");
            let body = document.descendants_named(Document::ROOT, &["body"]).next().expect("there is always one");
            let html = document.inner_html(body);
            if text.starts_with("<script") {
                assert_eq!(html, "&#39;");
                continue;
            }
            assert_eq!(html, expected);
        }
    }
}
