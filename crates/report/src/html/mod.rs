//! Pages, tables and charts as one HTML file that opens offline.
//!
//! No file beside it, no request to anywhere: style and script are inside, and a content policy forbids the rest.
//! Charts are SVG made here, and complete without the script, which reads values out under the pointer, draws a part of
//! the time larger, and makes tables anew for it. Light and dark follow the reader's system, narrow screens and paper
//! are laid out by the same style.
//!
//! Every text that comes from outside (names of scripts, metrics, events, checks) passes through [`Text`]. Pieces are
//! strings of finished HTML: a page puts them one after the other.

pub mod chart;
pub mod run;
pub mod table;

use std::fmt;

pub use table::Table;

/// A text from outside, escaped where it is printed: in an element or in an attribute between double quotes.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(pub &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Characters that turn the direction of what follows, and those no page may hold.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => f.write_str("\u{fffd}")?,
                c if c.is_control() && c != '\n' && c != '\t' => f.write_str("\u{fffd}")?,
                c => fmt::Write::write_char(f, c)?,
            }
        }
        Ok(())
    }
}

/// A page made of pieces.
#[derive(Clone, Debug, Default)]
pub struct Page {
    title: String,
    body: String,
    /// Name and heading of each section.
    contents: Vec<(String, String)>,
    head: String,
    /// What only some pages do.
    script: &'static str,
}

impl Page {
    /// An empty page; `title` is what a browser's tab shows.
    pub fn new(title: &str) -> Page {
        Page { title: title.to_owned(), ..Page::default() }
    }

    /// Adds a piece of finished HTML.
    pub fn add(&mut self, piece: impl AsRef<str>) {
        self.body.push_str(piece.as_ref());
        self.body.push('\n');
    }

    /// What stands above the contents: the title, and what to know first.
    pub fn head(&mut self, piece: String) {
        self.head = piece;
    }

    /// What this page does besides what all do.
    pub fn script(&mut self, script: &'static str) {
        self.script = script;
    }

    /// Adds a heading and what is below it; nothing when there is nothing below.
    pub fn section(&mut self, heading: &str, pieces: &[String]) {
        if pieces.iter().all(String::is_empty) {
            return;
        }
        let number = self.contents.len() + 1;
        let (open, text) = (format!("<section aria-labelledby=\"s{number}\">"), Text(heading));
        self.contents.push((format!("s{number}"), heading.to_owned()));
        self.add(format!("{open}<h2 id=\"s{number}\">{text}</h2>\n{}\n</section>", pieces.join("\n")));
    }

    /// Links to the sections, which stay in sight.
    fn contents(&self) -> String {
        let link = |(id, heading): &(String, String)| format!("<li><a href=\"#{id}\">{}</a></li>", Text(heading));
        let links: String = self.contents.iter().map(link).collect();
        if self.contents.len() < 2 {
            String::new()
        } else {
            format!("<nav aria-label=\"Contents\"><ul>{links}</ul></nav>")
        }
    }

    /// The whole file.
    pub fn html(&self) -> String {
        let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}\n{}\n<main>\n{}</main>\n\
             <script>\n\"use strict\";\n{}{}{}{}</script>\n</body>\n</html>\n",
            Text(&self.title),
            include_str!("page.css"),
            self.head,
            self.contents(),
            self.body,
            include_str!("words.js"),
            include_str!("charts.js"),
            include_str!("stretch.js"),
            self.script,
        )
    }
}

/// Charts beside each other where the screen is wide enough.
pub fn grid(charts: &[String]) -> String {
    if charts.iter().all(String::is_empty) {
        String::new()
    } else {
        format!("<div class=\"grid\">\n{}\n</div>", charts.join("\n"))
    }
}

/// JSON inside a script element: nothing in it can end the element.
pub(crate) fn json_island(value: &serde_json::Value) -> String {
    let text = value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    format!("<script type=\"application/json\">{text}</script>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_place() {
        let text = Text("<script>alert('x')</script> & \"y\"\u{202e}\0").to_string();
        assert_eq!(text, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;y&quot;\u{fffd}\u{fffd}");
        let island = json_island(&serde_json::json!({ "name": "</script><b>" }));
        assert!(!island["<script type=\"application/json\">".len()..].contains("<b>"), "{island}");
    }

    #[test]
    fn a_page_asks_nobody_for_anything() {
        let mut page = Page::new("</title><b>");
        page.section("empty", &[String::new()]);
        page.section("a <b>", &["<p>x</p>".to_owned()]);
        let html = page.html();
        assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("src="), "{html}");
        assert!(
            html.contains("<title>&lt;/title&gt;&lt;b&gt;</title>") && html.contains("<h2 id=\"s1\">a &lt;b&gt;</h2>")
        );
        assert!(!html.contains(">empty</h2>"));
    }
}
