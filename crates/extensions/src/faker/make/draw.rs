//! The random choices that values are made of. The same seed makes the same choices in every run.

use std::fmt::Write;

use fastrand::Rng;
use time::OffsetDateTime;

use super::function::Function;
use super::made::Made;
use super::words;

/// Finds a function by its name.
pub type Find = fn(&str) -> Option<&'static Function>;

/// A source of choices.
pub struct Draw {
    rng: Rng,
    /// The functions that patterns name.
    find: Find,
    /// When it is, for what has to lie in the future or in the past.
    pub now: OffsetDateTime,
}

impl Draw {
    /// The choices of a seed; 0 is a seed that nobody knows.
    pub fn new(seed: u64, find: Find) -> Draw {
        let rng = if seed == 0 { Rng::new() } else { Rng::with_seed(seed) };
        Draw { rng, find, now: OffsetDateTime::UNIX_EPOCH }
    }

    /// One of these.
    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.rng.usize(..list.len())]
    }

    /// One of a list of `words.txt`.
    pub fn word(&mut self, list: &str) -> String {
        let entry = self.pick(words::list(list));
        self.fill(entry)
    }

    /// Puts values into the place of `{name}`, each of the function of that name.
    pub fn fill(&mut self, pattern: &str) -> String {
        let mut out = String::with_capacity(pattern.len());
        let mut rest = pattern;
        while let Some((before, (name, after))) =
            rest.split_once('{').and_then(|(before, more)| more.split_once('}').map(|cut| (before, cut)))
        {
            out.push_str(before);
            match (self.find)(name) {
                Some(function) => out.push_str(&function.make_plain(self).into_text()),
                // A list that is no function by itself.
                None => out.push_str(&self.word(name)),
            }
            rest = after;
        }
        out + rest
    }

    /// A whole number from `min` to `max`, both of them too.
    pub fn whole(&mut self, min: i64, max: i64) -> i64 {
        self.rng.i64(min..=max.max(min))
    }

    /// An index below `count`.
    pub fn index(&mut self, count: usize) -> usize {
        self.rng.usize(..count)
    }

    /// A number from `min` to below `max`.
    pub fn real(&mut self, min: f64, max: f64) -> f64 {
        min + self.rng.f64() * (max - min)
    }

    /// The same, rounded.
    pub fn rounded(&mut self, min: f64, max: f64, digits: i32) -> f64 {
        let factor = 10f64.powi(digits);
        (self.real(min, max) * factor).round() / factor
    }

    /// Yes or no.
    pub fn coin(&mut self) -> bool {
        self.rng.bool()
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.rng.u64(..)
    }

    /// As many characters of an alphabet in ASCII.
    pub fn letters(&mut self, alphabet: &str, count: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..count).map(|_| char::from(alphabet[self.rng.usize(..alphabet.len())])).collect()
    }

    /// Decimal digits.
    pub fn digits(&mut self, count: usize) -> String {
        self.letters("0123456789", count)
    }

    /// Hexadecimal digits.
    pub fn hex(&mut self, count: usize) -> String {
        self.letters("0123456789abcdef", count)
    }

    /// Puts a digit into the place of each `#`, and one from 1 into that of each `^`.
    pub fn numerify(&mut self, pattern: &str) -> String {
        let mut out = String::with_capacity(pattern.len());
        for letter in pattern.chars() {
            match letter {
                '#' => out.push_str(&self.digits(1)),
                '^' => out.push_str(&self.letters("123456789", 1)),
                letter => out.push(letter),
            }
        }
        out
    }

    /// Puts a letter into the place of each `?`.
    pub fn lexify(&mut self, pattern: &str) -> String {
        let mut out = String::with_capacity(pattern.len());
        for letter in pattern.chars() {
            match letter {
                '?' => out.push_str(&self.letters("abcdefghijklmnopqrstuvwxyz", 1)),
                letter => out.push(letter),
            }
        }
        out
    }

    /// In a random order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        self.rng.shuffle(list);
    }

    /// Words of a function, as a sentence.
    pub fn sentence(&mut self, of: &str, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.fill(&format!("{{{of}}}"))).collect();
        let mut text = capital(&words.join(" "));
        text.push('.');
        text
    }

    /// Paragraphs of such sentences: how many, of how many sentences, of how many words, and what stands between them.
    pub fn paragraphs(&mut self, of: &str, counts: [usize; 3], separator: &str) -> String {
        let [paragraphs, sentences, words] = counts;
        let mut out = String::new();
        for paragraph in 0..paragraphs {
            out.push_str(if paragraph == 0 { "" } else { separator });
            for sentence in 0..sentences {
                let _ = write!(out, "{}{}", if sentence == 0 { "" } else { " " }, self.sentence(of, words));
            }
        }
        out
    }

    /// Hexadecimal, as a number is written.
    pub fn hex_number(&mut self, digits: usize) -> Made {
        format!("0x{}", self.hex(digits)).into()
    }
}

/// The first letter large.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
