//! A table of finished texts. It scrolls by itself when the screen is too narrow; the page never does.
//!
//! Columns after the first are numbers, to the right, by default. For readers that do not see it, a table has a name,
//! and its columns and rows have heads.

use std::fmt::Write;

use super::Text;

/// Columns that a sheet of paper has room for in its usual size.
const BROAD: usize = 8;

/// A table being filled.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<HtmlRow>,
    /// How many columns from the left are texts.
    texts: usize,
    /// Columns further to the right that hold texts.
    more_texts: Vec<usize>,
    /// What it is called; shown to those who do not see the heading above it.
    name: String,
    /// The column that tells the rows apart.
    row_head: usize,
    /// What a script may do with it: the value of its attribute `data-stretch`.
    stretch: Option<&'static str>,
}

#[derive(Clone, Debug)]
struct HtmlRow {
    cells: Vec<HtmlCell>,
    class: &'static str,
    /// Further attributes, finished.
    attributes: String,
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
        Table { head: head.into_iter().map(str::to_owned).collect(), texts: 1, ..Table::default() }
    }

    /// A column further to the right that holds texts, too.
    pub fn text_at(mut self, column: usize) -> Table {
        self.more_texts.push(column);
        self
    }

    /// What it is called.
    pub fn named(self, name: &str) -> Table {
        Table { name: name.to_owned(), ..self }
    }

    /// The column that tells the rows apart, otherwise the first.
    pub fn told_by(self, column: usize) -> Table {
        Table { row_head: column, ..self }
    }

    /// A script may make its rows anew for a stretch of the run: columns by their names in `stretch.js`.
    pub fn over_stretches(self, columns: &'static str) -> Table {
        Table { stretch: Some(columns), ..self }
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
        self.row_with(class, String::new(), cells);
    }

    /// The same with further attributes, finished HTML.
    pub fn row_with<T: Into<CellText>>(
        &mut self,
        class: &'static str,
        attributes: String,
        cells: impl IntoIterator<Item = T>,
    ) {
        let cells = cells.into_iter().map(|cell| cell.into().0).collect();
        self.rows.push(HtmlRow { cells, class, attributes });
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
        let name = Text(if self.name.is_empty() { "Table" } else { &self.name });
        // What scrolls can be reached by keyboard, and says what it is.
        let mut html = format!("<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"{name}\"><table");
        // On paper nobody can scroll.
        if self.head.len() > BROAD {
            html.push_str(" class=\"broad\"");
        }
        if let Some(columns) = self.stretch {
            let _ = write!(html, " data-stretch=\"{columns}\"");
        }
        let _ = write!(html, "><caption>{name}</caption>\n<thead><tr>");
        for (at, title) in self.head.iter().enumerate() {
            let _ = match title.is_empty() {
                true => write!(html, "<td{}></td>", self.class_of(at)),
                false => write!(html, "<th scope=\"col\"{}>{}</th>", self.class_of(at), Text(title)),
            };
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            let class = if row.class.is_empty() { String::new() } else { format!(" class=\"{}\"", row.class) };
            let _ = write!(html, "<tr{class}{}>", row.attributes);
            for (at, cell) in row.cells.iter().enumerate() {
                let class = self.class_of(at);
                let is_empty = matches!(cell, HtmlCell::Text(text) if text.is_empty());
                let is_head = at == self.row_head && !is_empty;
                let (open, close) = if is_head { ("th scope=\"row\"", "th") } else { ("td", "td") };
                let _ = match cell {
                    HtmlCell::Text(text) => write!(html, "<{open}{class}>{}</{close}>", Text(text)),
                    HtmlCell::Html(inner) => write!(html, "<{open}{class}>{inner}</{close}>"),
                };
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>");
        html
    }

    fn class_of(&self, column: usize) -> &'static str {
        if column < self.texts || self.more_texts.contains(&column) { "" } else { " class=\"n\"" }
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
        assert!(html.contains("<th scope=\"col\">name</th><th scope=\"col\" class=\"n\">count</th>"), "{html}");
        assert!(html.contains("<tr><th scope=\"row\">&lt;i&gt;</th><td class=\"n\">7</td></tr>"), "{html}");
        assert!(html.contains("<tr class=\"bad\"><th scope=\"row\"><b>x</b></th>"), "{html}");
    }

    #[test]
    fn a_table_is_whole() {
        let mut table = Table::new(["", "a<b", "n"]).texts(2).told_by(1).named("x & y").over_stretches("- name count");
        assert!(table.is_empty());
        table.row_with("sub", " data-row=\"1\"".to_owned(), ["", "", "7"]);
        table.row(["1", "two", "3"]);
        let expected = "<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"x &amp; y\">\
                        <table data-stretch=\"- name count\"><caption>x &amp; y</caption>\n<thead><tr><td></td>\
                        <th scope=\"col\">a&lt;b</th><th scope=\"col\" class=\"n\">n</th></tr></thead>\n<tbody>\n\
                        <tr class=\"sub\" data-row=\"1\"><td></td><td></td><td class=\"n\">7</td></tr>\n\
                        <tr><td>1</td><th scope=\"row\">two</th><td class=\"n\">3</td></tr>\n\
                        </tbody></table></div>";
        assert_eq!(table.html(), expected);
        assert!(!table.is_empty());
    }

    #[test]
    fn what_is_too_broad_for_paper_says_so_and_further_texts_stand_left() {
        let of = |columns: usize| {
            let mut table = Table::new(vec!["c"; columns]).text_at(2);
            table.row(vec!["1"; columns]);
            table.html()
        };
        assert!(!of(BROAD).contains("class=\"broad\""));
        assert!(of(BROAD + 1).contains("<table class=\"broad\"><caption>Table</caption>"));
        assert!(of(BROAD + 3).contains("<table class=\"broad\">"));
        let cells = "<tr><th scope=\"row\">1</th><td class=\"n\">1</td><td>1</td><td class=\"n\">1</td></tr>";
        assert!(of(4).contains(cells), "{}", of(4));
    }
}
