//! Sentences and paragraphs of words.

use fake::locales::{Data, EN};

use super::STRING;
use crate::faker::make::draw::{Draw, capital};
use crate::faker::make::function::{ArgumentList, Function, Parameter, draw, number, pick, text, with};
use crate::faker::make::made::Made;

const WORDS: &[Parameter] = &[number("words", "5")];
const PARAGRAPHS: &[Parameter] =
    &[number("paragraphs", "2"), number("sentences", "2"), number("words", "5"), text("separator", "<br />")];

#[rustfmt::skip]
pub const HACKER: &[Function] = &[
    draw("hackerPhrase", STRING, "A sentence.", |d| capital(&d.word("hackerPhrase")).into()),
];

#[rustfmt::skip]
pub const HIPSTER: &[Function] = &[
    with("hipsterParagraph", PARAGRAPHS, STRING, "Paragraphs.", |d, given| paragraphs(d, "hipsterWord", given)),
    with("hipsterSentence", WORDS, STRING, "A sentence.", |d, given| sentence(d, "hipsterWord", given)),
];

#[rustfmt::skip]
pub const WORD: &[Function] = &[
    with("loremIpsumParagraph", PARAGRAPHS, STRING, "Paragraphs of Latin.",
        |d, given| paragraphs(d, "loremIpsumWord", given)),
    with("loremIpsumSentence", WORDS, STRING, "A sentence of Latin.", |d, given| sentence(d, "loremIpsumWord", given)),
    pick("loremIpsumWord", EN::LOREM_WORD, "A Latin word."),
    with("paragraph", PARAGRAPHS, STRING, "Paragraphs.", |d, given| paragraphs(d, "word", given)),
    draw("question", STRING, "A question of hipsters' words.", question),
    draw("quote", STRING, "What somebody said, and who.", quote),
    with("sentence", WORDS, STRING, "Words as a sentence.", |d, given| sentence(d, "word", given)),
    draw("simpleSentence", STRING, "A sentence that keeps to grammar.", |d| capital(&d.word("simpleSentence")).into()),
];

fn sentence(d: &mut Draw, of: &str, given: &ArgumentList) -> Result<Made, String> {
    Ok(d.sentence(of, given.count(0)?).into())
}

/// All three counts together are as limited as one of them.
fn paragraphs(d: &mut Draw, of: &str, given: &ArgumentList) -> Result<Made, String> {
    let counts = [given.count(0)?, given.count(1)?, given.count(2)?];
    match counts.iter().map(|count| *count as f64).product::<f64>() {
        words if words <= 1_000_000.0 => Ok(d.paragraphs(of, counts, given.text(3)).into()),
        words => Err(format!("{counts:?} are {words} words, expected at most 1000000")),
    }
}

fn question(d: &mut Draw) -> Made {
    let count = d.whole(3, 9) as usize;
    d.sentence("hipsterWord", count).replace('.', "?").into()
}

fn quote(d: &mut Draw) -> Made {
    let count = d.whole(3, 9) as usize;
    let said = d.sentence("hipsterWord", count);
    format!("\"{said}\" - {}", d.fill("{firstName} {lastName}")).into()
}
