//! A table as fields, before it becomes text, Markdown or HTML.

/// A table with its heading. The first row are the names of the columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sheet {
    pub(super) heading: String,
    pub(super) rows: Vec<Vec<Field>>,
}

/// One field of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) text: String,
    pub(super) right: bool,
    pub(super) bold: bool,
}

impl Field {
    pub(super) fn left(text: impl Into<String>) -> Field {
        Field { text: text.into(), right: false, bold: false }
    }

    pub(super) fn right(text: impl Into<String>) -> Field {
        Field { text: text.into(), right: true, bold: false }
    }

    pub(super) fn marked_down(&self) -> String {
        let text = escape(&self.text);
        if self.bold { format!("**{text}**") } else { text }
    }
}

/// A bar would end a cell, a bracket begin a link or a tag.
pub(super) fn escape(text: &str) -> String {
    text.chars()
        .flat_map(|c| matches!(c, '|' | '<' | '*' | '_' | '`' | '[' | '\\').then_some('\\').into_iter().chain([c]))
        .collect()
}
