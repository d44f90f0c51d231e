//! A command line of a quick run, read word by word: flags with their values in order, and what is left, the URL.
//!
//! Two dialects. In `onrush curl` every letter is curl's. In `onrush run URL` people also come from wrk, oha and k6, so
//! a letter means what its value can only mean, and a value that fits two readings is refused with both spellings
//! named. Reading never fails half-way: problems are gathered, because whether the line is a quick run at all is known
//! at its end.

use super::flag::{self, Act, Flag};
use super::letter::{self, Letter};
use crate::flags;
use convert::shell;

/// Whose letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `onrush run URL`.
    Run,
    /// `onrush curl`.
    Curl,
}

/// One flag with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// What it asks for.
    pub act: Act,
    /// As it was written: `-d`, `--data`.
    pub spelled: String,
    /// Empty when it takes none.
    pub value: String,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Line {
    /// Flags of requests and load, in order.
    pub given: Vec<Given>,
    /// Words that belong to no flag.
    pub words: Vec<String>,
    /// Flags of `run`, ready for its own reader.
    pub own: Vec<String>,
    /// What cannot be understood; only the first is reported.
    pub problems: Vec<String>,
    /// `--help`.
    pub help: bool,
}

impl Line {
    /// Reads the words behind the command's name.
    pub fn read(dialect: Dialect, words: Vec<String>) -> Line {
        let mut reader = Reader { dialect, words: words.into_iter().peekable(), line: Line::default() };
        while let Some(word) = reader.words.next() {
            reader.word(word);
        }
        let mut line = reader.line;
        if dialect == Dialect::Curl {
            // With the prompt it was copied behind, or without.
            for leading in ["$", "curl"] {
                if line.words.first().is_some_and(|word| word == leading) {
                    line.words.remove(0);
                }
            }
        }
        line
    }
}

struct Reader {
    dialect: Dialect,
    words: std::iter::Peekable<std::vec::IntoIter<String>>,
    line: Line,
}

impl Reader {
    fn word(&mut self, word: String) {
        if word == "--" {
            self.line.words.extend(self.words.by_ref());
        } else if let Some(long) = word.strip_prefix("--") {
            self.long(long, &word);
        } else if let Some(problem) = word.strip_prefix('-').and_then(|name| self.of_another_tool(name)) {
            self.line.problems.push(format!("{word}: {problem}"));
        } else if word.len() > 1 && word.starts_with('-') {
            self.letters(&word[1..]);
        } else if self.dialect == Dialect::Curl && word.trim().contains(char::is_whitespace) {
            self.pasted(&word);
        } else {
            self.line.words.push(word);
        }
    }

    /// A whole command in one argument.
    fn pasted(&mut self, text: &str) {
        match shell::split(text) {
            Ok(words) => {
                let inner = Line::read(Dialect::Curl, words);
                self.line.given.extend(inner.given);
                self.line.words.extend(inner.words);
                self.line.own.extend(inner.own);
                self.line.problems.extend(inner.problems);
            }
            Err(problem) => self.line.problems.push(format!("the pasted command cannot be read: {problem}")),
        }
    }

    fn long(&mut self, long: &str, word: &str) {
        let (name, attached) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        let spelled = format!("--{name}");
        // curl's --verbose concerns its output; ours logs more.
        if name == "help" {
            self.line.help = true;
        } else if let Some(problem) = self.of_another_tool(name) {
            self.line.problems.push(format!("{spelled}: {problem}"));
        } else if let Some(problem) = self.asks_for_a_file(name, attached.as_deref()) {
            self.line.problems.push(problem);
        } else if let Some(flag) = flag::by_name(name).filter(|flag| self.is_meant(flag)) {
            self.take(flag.act, flag.takes_value, spelled, attached);
        } else if let Some(takes_word) = flags::takes_word(name) {
            self.own(word, &spelled, takes_word, attached);
        } else if let Some(off) = name.strip_prefix("no-").filter(|off| flag::is_switch(off)) {
            // What is off at the end was never on.
            let act = flag::by_name(off).map(|flag| flag.act);
            self.line.given.retain(|given| Some(given.act) != act);
        } else {
            let known = flag::FLAGS.iter().map(|flag| flag.long).chain(flags::names());
            let problem = match units::suggest::closest(name, known) {
                Some(near) => format!("unknown flag {spelled}; did you mean --{near}?"),
                None => format!("unknown flag {spelled}: neither Onrush nor curl has it; see onrush run --help"),
            };
            self.line.problems.push(problem);
        }
    }

    /// What to write for a flag of wrk, oha, hey or bombardier.
    fn of_another_tool(&self, name: &str) -> Option<String> {
        let name = name.split('=').next().unwrap_or_default();
        // One letter is read with its value.
        (self.dialect == Dialect::Run && name.len() > 1).then(|| letter::elsewhere(name)).flatten()
    }

    /// A file that Onrush would not write: a pasted command of curl ignores it, but here somebody expects it.
    fn asks_for_a_file(&mut self, name: &str, attached: Option<&str>) -> Option<String> {
        let flag = flag::by_name(name).filter(|flag| matches!(flag.letter, Some('o' | 'D')))?;
        let value = attached.or(self.words.peek().map(String::as_str)).unwrap_or_default();
        match (self.dialect, letter::meaning(flag.letter?, value, false)) {
            (Dialect::Run, Letter::Open(_)) => Some(format!(
                "--{name} {value}: Onrush keeps no answers; leave it out, or keep the run's figures with \
                 --summary-export FILE"
            )),
            _ => None,
        }
    }

    /// Names that both have: `--config` and `--verbose` are Onrush's unless the command is curl's.
    fn is_meant(&self, flag: &Flag) -> bool {
        self.dialect == Dialect::Curl || !matches!(flag.long, "config" | "verbose")
    }

    fn own(&mut self, word: &str, spelled: &str, takes_value: bool, attached: Option<String>) {
        match attached.or_else(|| takes_value.then(|| self.value_after(spelled)).flatten()) {
            Some(value) => self.line.own.push(format!("{spelled}={value}")),
            None if takes_value => {}
            None => self.line.own.push(word.to_owned()),
        }
    }

    /// `-sSL`, `-XPOST`, `-d a=b`.
    fn letters(&mut self, letters: &str) {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let spelled = format!("-{letter}");
            let ahead = if rest.is_empty() { self.words.peek().map(String::as_str) } else { Some(rest) };
            let meaning = match self.dialect {
                Dialect::Curl => flag::by_letter(letter).map_or(Letter::Unknown, Letter::Is),
                Dialect::Run => letter::meaning(letter, ahead.unwrap_or_default(), !rest.is_empty()),
            };
            // `-d=10s`, as k6 takes it; curl would take the sign for a part of the value.
            if self.dialect == Dialect::Run
                && let Some(value) = rest.strip_prefix('=')
                && let Letter::With(act) = letter::meaning(letter, value, true)
                && act.is_load()
            {
                return self.take(act, true, spelled, Some(value.to_owned()));
            }
            if rest.is_empty() && takes_the_next_word(letter, ahead.unwrap_or_default(), &meaning) {
                self.words.next();
            }
            if let Letter::Header(name) = meaning {
                let attached = (!rest.is_empty()).then(|| rest.to_owned());
                return self.header(name, spelled, attached);
            }
            let Some((act, takes_value)) = self.settled(letter, meaning) else { return };
            if takes_value {
                let attached = (!rest.is_empty()).then(|| rest.to_owned());
                return self.take(act, true, spelled, attached);
            }
            self.take(act, false, spelled, None);
        }
    }

    /// What a letter asks for and whether it takes a value; nothing when that is a problem, which is noted.
    fn settled(&mut self, letter: char, meaning: Letter) -> Option<(Act, bool)> {
        let problem = match meaning {
            Letter::Is(flag) => return Some((flag.act, flag.takes_value)),
            Letter::Alone(act) => return Some((act, false)),
            Letter::With(act) => return Some((act, true)),
            Letter::Unknown if letter == 'h' => {
                self.line.help = true;
                return None;
            }
            Letter::Open(problem) => problem,
            Letter::Header(_) | Letter::Unknown => {
                format!("unknown flag -{letter}: it is neither one of Onrush's nor of curl's")
            }
        };
        self.line.problems.push(problem);
        None
    }

    /// `-A application/json` of oha: a header by its letter.
    fn header(&mut self, name: &str, spelled: String, attached: Option<String>) {
        if let Some(value) = attached.or_else(|| self.value_after(&spelled)) {
            self.line.given.push(Given { act: Act::Header, spelled, value: format!("{name}: {value}") });
        }
    }

    fn take(&mut self, act: Act, takes_value: bool, spelled: String, attached: Option<String>) {
        let value = match (takes_value, attached) {
            (false, None) => String::new(),
            (false, Some(value)) => {
                return self.line.problems.push(format!("{spelled} takes no value, found '{value}'"));
            }
            (true, attached) => match attached.or_else(|| self.value_after(&spelled)) {
                Some(value) => value,
                None => return,
            },
        };
        match act {
            Act::Own(name) => self.line.own.push(format!("--{name}")),
            Act::OwnValue(name) => self.line.own.push(format!("--{name}={value}")),
            Act::Refused(instead) => self.line.problems.push(format!("{spelled}: {instead}")),
            act => self.line.given.push(Given { act, spelled, value }),
        }
    }

    fn value_after(&mut self, spelled: &str) -> Option<String> {
        let value = self.words.next();
        if value.is_none() {
            self.line.problems.push(format!("{spelled}: expected a value behind it"));
        }
        value
    }
}

/// Whether a letter that is refused has a value in every reading, so that the next word is no URL.
fn takes_the_next_word(letter: char, ahead: &str, meaning: &Letter) -> bool {
    let may_stand_alone = "wjlp".contains(letter) || letter == 'a' && ahead.contains("://");
    matches!(meaning, Letter::Open(_)) && !may_stand_alone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dialect: Dialect, line: &str) -> Line {
        Line::read(dialect, shell::split(line).expect("a good line"))
    }

    fn shown(dialect: Dialect, line: &str) -> String {
        let line = read(dialect, line);
        let given = line.given.iter().map(|given| format!("{:?}={}", given.act, given.value));
        let own = line.own.iter().cloned();
        let words = line.words.iter().map(|word| format!("[{word}]"));
        let problems = line.problems.iter().map(|problem| format!("!{problem}"));
        given.chain(own).chain(words).chain(problems).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn letters_mean_what_their_value_can_only_mean() {
        let table = [
            ("-c 64 -d 30s h:1", "Vus=64 Duration=30s [h:1]"),
            ("-c100 -d30s --threads 4 h:1", "Vus=100 Duration=30s --workers=4 [h:1]"),
            ("-t 5s -m POST -A text/html h:1", "MaxTime=5s Method=POST Header=Accept: text/html [h:1]"),
            ("-d a=b -d @f -d '{\"a\":1}' h:1", "Data=a=b Data=@f Data={\"a\":1} [h:1]"),
            ("-u 5 -u me:secret -i 7 -i h:1", "Vus=5 User=me:secret Requests=7 Output= [h:1]"),
            ("-s 10s:5,1m:0 -s h:1", "Stage=10s:5,1m:0 Output= [h:1]"),
            ("-sSLk -XPUT h:1 -q", "Output= Output= Location= Insecure= Method=PUT --quiet [h:1]"),
            ("-n 100 -z 5s -o /dev/null h:1", "Requests=100 Duration=5s Output=/dev/null [h:1]"),
            ("--tag a=b --summary-mode=full --http-debug -- h:1", "--tag=a=b --summary-mode=full --http-debug [h:1]"),
            ("-d=5s -c=3 h:1", "Duration=5s Vus=3 [h:1]"),
            ("-d=a h:1", "Data==a [h:1]"),
            ("--verbose --config f h:1", "--verbose --config=f [h:1]"),
        ];
        for (line, expected) in table {
            assert_eq!(shown(Dialect::Run, line), expected, "{line}");
        }
    }

    #[test]
    fn letters_of_curl_are_curls() {
        let table = [
            ("curl -d 30s -c jar -u 5 -sS h:1", "Data=30s Output=jar User=5 Output= Output= [h:1]"),
            ("--vus 5 'curl -i -XPOST h:1' --rate 10", "Vus=5 Output= Method=POST Rate=10 [h:1]"),
            ("'$ curl h:1'", "[h:1]"),
            ("-X POST h:1 -v", "Method=POST Output= [h:1]"),
        ];
        for (line, expected) in table {
            assert_eq!(shown(Dialect::Curl, line), expected, "{line}");
        }
    }

    #[test]
    fn what_can_mean_two_things_names_both() {
        for (line, one, other) in [
            ("-d 10 h:1", "--duration 10s", "--data 10"),
            ("-d 10sec h:1", "--duration 10s", "--data 10sec"),
            ("-u me h:1", "--vus 10", "--user NAME:PASSWORD"),
            ("-e A=b h:1", "--referer A=b", "__ENV"),
            ("-w h:1", "--throw", "nothing for text about each answer"),
        ] {
            let problems = read(Dialect::Run, line).problems;
            assert!(problems[0].contains(one) && problems[0].contains(other), "{line}: {problems:?}");
        }
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (dialect, line, found) in [
            (Dialect::Run, "--dataa x h:1", "unknown flag --dataa"),
            (Dialect::Run, "--dataa x h:1", "did you mean --data?"),
            (Dialect::Run, "--output f h:1", "--output f: Onrush keeps no answers; leave it out"),
            (Dialect::Run, "-disable-keepalive h:1", "-disable-keepalive: this is a flag of oha and hey; write"),
            (
                Dialect::Run,
                "--timeout=5s h:1",
                "--timeout: this is a flag of wrk, oha and bombardier; write --max-time",
            ),
            (Dialect::Curl, "-K f h:1", "-K: write its flags on the command line"),
            (Dialect::Curl, "--http3 h:1", "--http3: Onrush speaks HTTP/1.1 and HTTP/2"),
            (Dialect::Curl, "h:1 -H", "-H: expected a value behind it"),
            (Dialect::Run, "--head=5 h:1", "--head takes no value, found '5'"),
            (Dialect::Curl, "--no-http2 h:1", "unknown flag --no-http2"),
            (Dialect::Curl, "--no-request h:1", "unknown flag --no-request"),
            (Dialect::Curl, "'curl \"a b'", "the pasted command cannot be read: a \" is not closed"),
        ] {
            let problems = read(dialect, line).problems;
            assert!(problems.first().is_some_and(|problem| problem.contains(found)), "{line}: {problems:?}");
        }
    }
}
