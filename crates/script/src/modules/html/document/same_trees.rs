//! Texts of all kinds give the trees that html5ever makes of them with its own tokenizer.

use super::parse::by_html5ever;
use super::{Document, NodeData};

impl Document {
    /// As html5ever alone reads it.
    fn parse_by_html5ever(text: &str) -> Document {
        Document::of(by_html5ever(text), "")
    }

    /// Each node with its depth, and all that is known of it.
    fn shown(&self) -> Vec<String> {
        let of = |id| match &self.node(id).data {
            NodeData::Text(text) => format!("{:?}", &**text),
            NodeData::Comment(text) => format!("!{text}"),
            NodeData::Doctype(text) => text.clone(),
            NodeData::Document => String::new(),
            NodeData::Element(element) => format!("{:?} {:?}", element.name, element.attributes),
        };
        self.below(Document::ROOT).map(|id| format!("{} {}", self.ancestors(id).count(), of(id))).collect()
    }
}

/// Pieces of pages, in which all that is special occurs.
const PIECES: &[&str] = &[
    "<p>",
    "</p>",
    "<div class=\"a b\">",
    "</div>",
    "<b>",
    "</b>",
    "<i>",
    "text",
    " ",
    "\n",
    "\r\n",
    "\r",
    "<",
    ">",
    "&",
    "&amp;",
    "&lt",
    "&not",
    "it;",
    "&#8364;",
    "&#x80;",
    "&#0;",
    "&#xd800;",
    "&#x110000;",
    "&#",
    "&#x",
    "&notit;",
    "&NotEqualTilde;",
    "<a href='x?a=1&copy=2&amp;b'>",
    "<a b=&amp=c>",
    "</a>",
    "<br/>",
    "<br / >",
    "<IMG SRC=x alt>",
    "<input disabled value = \"1\" value=2>",
    "<x =y=z \"q'>",
    "<x a=>",
    "<x/a/b=1/>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<select>",
    "<option>",
    "</select>",
    "<script>",
    "</script>",
    "</SCRIPT >",
    "<!--",
    "-->",
    "--!>",
    "--",
    "->",
    "<!-->",
    "<!doctype html>",
    "<!DOCTYPE html PUBLIC \"a>b\">",
    "<!",
    "<?php ?>",
    "</>",
    "</ x>",
    "<3",
    "<style>",
    "a{}</style>",
    "<textarea>\n&lt;</textarea>",
    "<title>",
    "</title>",
    "</titlex>",
    "</title/>",
    "<plaintext>",
    "<noscript>",
    "</noscript>",
    "<template>",
    "</template>",
    "<svg>",
    "<![CDATA[x<y]]>",
    "</svg>",
    "<math>",
    "<mi>",
    "ü€😀",
    "\u{c}",
    "\t",
    "\u{0}",
    "<form>",
    "</form>",
    "<frameset>",
    "<pre>\n\nx",
    "<body id=1>",
    "<html lang=en>",
    "</body>",
    "</html>",
    "'",
    "\"",
];

/// The same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn every_text_gives_the_tree_that_html5ever_makes_of_it() {
    let mut numbers = Numbers(1);
    for _ in 0..20_000 {
        let count = 1 + numbers.below(12);
        let text: String = (0..count).map(|_| PIECES[numbers.below(PIECES.len())]).collect();
        assert_eq!(Document::parse(&text, "").shown(), Document::parse_by_html5ever(&text).shown(), "{text:?}");
    }
}

#[test]
fn a_byte_order_mark_is_none_of_the_text() {
    assert_eq!(Document::parse("\u{feff}<p>a", "").shown(), Document::parse_by_html5ever("<p>a").shown());
}

#[test]
fn each_piece_alone_and_cut_off_at_each_place() {
    for piece in PIECES {
        for (end, _) in piece.char_indices().chain([(piece.len(), ' ')]) {
            let text = &piece[..end];
            assert_eq!(Document::parse(text, "").shown(), Document::parse_by_html5ever(text).shown(), "{text:?}");
        }
    }
}
