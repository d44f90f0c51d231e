//! Words, sentences and phrases.

use fake::locales::{Data, EN};

use super::STRING;
use crate::faker::make::draw::{Draw, capital};
use crate::faker::make::function::{ArgumentList, Function, Parameter, draw, number, pick, text, with, word};
use crate::faker::make::made::Made;

const WORDS: &[Parameter] = &[number("words", "5")];
const PARAGRAPHS: &[Parameter] =
    &[number("paragraphs", "2"), number("sentences", "2"), number("words", "5"), text("separator", "<br />")];

#[rustfmt::skip]
pub const EMOJI: &[Function] = &[
    word("emoji", "An emoji."),
    word("emojiAlias", "A name of an emoji, as chats have it."),
    word("emojiCategory", "A group of emoji."),
    word("emojiDescription", "What an emoji shows."),
    word("emojiTag", "A word to find emoji by."),
];

#[rustfmt::skip]
pub const ERROR: &[Function] = &[
    word("databaseError", "An error of a database."),
    word("error", "Any error."),
    word("errorObjectWord", "What an error is about."),
    word("gRPCError", "An error of gRPC."),
    word("httpClientError", "What a status from 400 to 499 means."),
    word("httpError", "An error of HTTP."),
    word("httpServerError", "What a status from 500 to 599 means."),
    word("runtimeError", "An error of a running program."),
    word("validationError", "What is wrong with an input."),
];

#[rustfmt::skip]
pub const HACKER: &[Function] = &[
    word("hackerAbbreviation", "An abbreviation."),
    word("hackerAdjective", "An adjective."),
    word("hackerNoun", "A noun."),
    draw("hackerPhrase", STRING, "A sentence.", |d| capital(&d.word("hackerPhrase")).into()),
    word("hackerVerb", "A verb."),
    word("hackeringVerb", "A verb that ends in -ing."),
];

#[rustfmt::skip]
pub const HIPSTER: &[Function] = &[
    with("hipsterParagraph", PARAGRAPHS, STRING, "Paragraphs.", |d, given| paragraphs(d, "hipsterWord", given)),
    with("hipsterSentence", WORDS, STRING, "A sentence.", |d, given| sentence(d, "hipsterWord", given)),
    word("hipsterWord", "A word."),
];

#[rustfmt::skip]
pub const LANGUAGE: &[Function] = &[
    word("language", "A language."),
    word("languageAbbreviation", "The two letters of a language."),
    word("languageBcp", "A language and where it is spoken, as `en-US`."),
    word("programmingLanguage", "A programming language."),
];

#[rustfmt::skip]
pub const WORD: &[Function] = &[
    word("actionVerb", "A verb of doing something."),
    word("adjective", "An adjective."),
    word("adverb", "An adverb."),
    word("adverbDegree", "An adverb that says how much."),
    word("adverbFrequencyDefinite", "An adverb that says exactly how often."),
    word("adverbFrequencyIndefinite", "An adverb that says about how often."),
    word("adverbManner", "An adverb that says how."),
    word("adverbPhrase", "Two adverbs."),
    word("adverbPlace", "An adverb that says where."),
    word("adverbTimeDefinite", "An adverb that says exactly when."),
    word("adverbTimeIndefinite", "An adverb that says about when."),
    word("comment", "A remark."),
    word("connective", "A connective."),
    word("connectiveCasual", "A connective of cause and effect."),
    word("connectiveComparitive", "A connective that compares."),
    word("connectiveComplaint", "A connective that insists."),
    word("connectiveExamplify", "A connective before an example."),
    word("connectiveListing", "A connective of lists."),
    word("connectiveTime", "A connective of time."),
    word("demonstrativeAdjective", "An adjective that points."),
    word("descriptiveAdjective", "An adjective that describes."),
    word("helpingVerb", "A verb that helps another one."),
    word("indefiniteAdjective", "An adjective that leaves open which."),
    word("interjection", "An exclamation."),
    word("interrogativeAdjective", "An adjective that asks."),
    word("intransitiveVerb", "A verb without an object."),
    word("linkingVerb", "A verb that links a subject to what it is."),
    with("loremIpsumParagraph", PARAGRAPHS, STRING, "Paragraphs of Latin.",
        |d, given| paragraphs(d, "loremIpsumWord", given)),
    with("loremIpsumSentence", WORDS, STRING, "A sentence of Latin.", |d, given| sentence(d, "loremIpsumWord", given)),
    pick("loremIpsumWord", EN::LOREM_WORD, "A Latin word."),
    word("noun", "A noun."),
    word("nounAbstract", "A noun for what cannot be touched."),
    word("nounCollectiveAnimal", "A noun for a group of animals."),
    word("nounCollectivePeople", "A noun for a group of people."),
    word("nounCollectiveThing", "A noun for a group of things."),
    word("nounCommon", "A frequent noun."),
    word("nounConcrete", "A noun for what can be touched."),
    word("nounCountable", "A noun for what can be counted."),
    word("nounDeterminer", "A word that stands before a noun."),
    word("nounPhrase", "A noun with its words."),
    word("nounProper", "A name."),
    word("nounUncountable", "A noun for what cannot be counted."),
    with("paragraph", PARAGRAPHS, STRING, "Paragraphs.", |d, given| paragraphs(d, "word", given)),
    word("phrase", "A saying."),
    word("possessiveAdjective", "An adjective that says whose."),
    word("preposition", "A preposition."),
    word("prepositionCompound", "A preposition of several words."),
    word("prepositionDouble", "A preposition of two prepositions."),
    word("prepositionPhrase", "A preposition with its words."),
    word("prepositionSimple", "A preposition of one word."),
    word("pronoun", "A pronoun."),
    word("pronounDemonstrative", "A pronoun that points."),
    word("pronounIndefinite", "A pronoun that leaves open who."),
    word("pronounInterrogative", "A pronoun that asks."),
    word("pronounObject", "A pronoun that is an object."),
    word("pronounPersonal", "A pronoun that is a subject."),
    word("pronounPossessive", "A pronoun that says whose."),
    word("pronounReflective", "A pronoun that points back."),
    word("pronounRelative", "A pronoun that begins a clause."),
    word("properAdjective", "An adjective of a name."),
    word("quantitativeAdjective", "An adjective that says how much."),
    draw("question", STRING, "A question of hipsters' words.", question),
    draw("quote", STRING, "What somebody said, and who.", quote),
    with("sentence", WORDS, STRING, "Words as a sentence.", |d, given| sentence(d, "word", given)),
    draw("simpleSentence", STRING, "A sentence that keeps to grammar.", |d| capital(&d.word("simpleSentence")).into()),
    word("transitiveVerb", "A verb with an object."),
    word("verb", "A verb."),
    word("verbPhrase", "A verb with its words."),
    word("word", "A word."),
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
