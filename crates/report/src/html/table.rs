//! A table of finished texts. It scrolls by itself when the screen is too narrow; the page never does.
//!
//! Columns after the first are numbers, to the right, by default.

use std::fmt::Write;

use super::Text;

/// A table being filled.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<HtmlRow>,
    /// How many columns from the left are texts.
    texts: usize,
}

#[derive(Clone, Debug)]
struct HtmlRow {
    cells: Vec<HtmlCell>,
    class: &'static str,
}

/// One cell.
#[derive(Clone, Debug)]
enum HtmlCell {
    Text(String),
    Html(String),
}

impl From<&str> for CellText {
    fn from(text: &str) -> Self {
        CellText(HtmlCell::Text(text.to_owned()))
    }
}

impl From<String> for CellText {
    fn from(text: String) -> Self {
        CellText(HtmlCell::Text(text))
    }
}

/// What is in a cell: a text, which is escaped, or finished HTML.
#[derive(Clone, Debug)]
pub struct CellText(HtmlCell);

impl CellText {
    /// Finished HTML.
    pub fn html(html: impl Into<String>) -> Self {
        CellText(HtmlCell::Html(html.into()))
    }
}

impl Table {
    /// A table with these column heads.
    pub fn new<'a>(head: impl IntoIterator<Item = &'a str>) -> Table {
        Table { head: head.into_iter().map(str::to_owned).collect(), rows: Vec::new(), texts: 1 }
    }

    /// So many columns from the left hold texts and stand to the left; otherwise one.
    pub fn texts(self, texts: usize) -> Table {
        Table { texts, ..self }
    }

    /// Adds a row.
    pub fn row<T: Into<CellText>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.row_of("", cells);
    }

    /// Adds a row of a class: `sub` is indented, `good` and `bad` are coloured, `strong` stands out.
    pub fn row_of<T: Into<CellText>>(&mut self, class: &'static str, cells: impl IntoIterator<Item = T>) {
        self.rows.push(HtmlRow { cells: cells.into_iter().map(|cell| cell.into().0).collect(), class });
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table, nothing when it has no rows.
    pub fn html(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut html = String::from("<div class=\"table\"><table>\n<thead><tr>");
        for (at, title) in self.head.iter().enumerate() {
            let _ = write!(html, "<th{}>{}</th>", self.class_of(at), Text(title));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            let class = if row.class.is_empty() { String::new() } else { format!(" class=\"{}\"", row.class) };
            let _ = write!(html, "<tr{class}>");
            for (at, cell) in row.cells.iter().enumerate() {
                let class = self.class_of(at);
                let _ = match cell {
                    HtmlCell::Text(text) => write!(html, "<td{class}>{}</td>", Text(text)),
                    HtmlCell::Html(inner) => write!(html, "<td{class}>{inner}</td>"),
                };
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>");
        html
    }

    fn class_of(&self, column: usize) -> &'static str {
        if column < self.texts { "" } else { " class=\"n\"" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_escaped_and_numbers_stand_right() {
        let mut table = Table::new(["name", "count"]);
        assert_eq!(table.html(), "");
        table.row(["<i>", "7"]);
        table.row_of("bad", [CellText::html("<b>x</b>"), "8".into()]);
        let html = table.html();
        assert!(html.contains("<th>name</th><th class=\"n\">count</th>"), "{html}");
        assert!(html.contains("<tr><td>&lt;i&gt;</td><td class=\"n\">7</td></tr>"), "{html}");
        assert!(html.contains("<tr class=\"bad\"><td><b>x</b></td>"), "{html}");
    }
}
