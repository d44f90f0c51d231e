//! What a letter means in `onrush run URL`, where people come from curl, k6, wrk, oha, hey and bombardier.
//!
//! A value that only one reading can have settles it. A letter that stays open is refused: the message says what to
//! write for each reading. One table, `READINGS`, has them, and the flags whose names those tools have and we do not.

use units::Span;

use super::flag::{self, Act, Flag};
use super::url_word::is_url;

/// What a letter means.
pub enum Letter {
    /// curl's flag.
    Is(&'static Flag),
    /// A flag without value.
    Alone(Act),
    /// A flag with one.
    With(Act),
    /// The value of this header.
    Header(&'static str),
    /// It can mean several things; says what to write.
    Open(String),
    /// Nobody's.
    Unknown,
}

/// A flag as other tools have it.
struct Reading {
    /// A letter or a name, without dashes.
    flag: &'static str,
    /// Whose it is.
    tools: &'static str,
    /// What a letter asks for there; for a name that is left out, why.
    means: &'static str,
    /// What to write here; `{}` stands for the value.
    write: &'static str,
}

const fn reading(flag: &'static str, tools: &'static str, means: &'static str, write: &'static str) -> Reading {
    Reading { flag, tools, means, write }
}

impl Reading {
    fn is_of(&self, letter: char) -> bool {
        self.flag.chars().eq([letter])
    }
}

/// The letters that no value, or not every value, settles, once for each way to read one; then the names.
#[rustfmt::skip]
static READINGS: &[Reading] = &[
    reading("A", "oha, hey", "the Accept header", "--header 'Accept: TYPE'"),
    reading("A", "curl", "the User-Agent", "--user-agent {}"),
    reading("D", "oha, hey", "a body from this file", "--data-binary @{}"),
    reading("D", "curl", "a file of the answer's headers, which Onrush does not keep", "nothing"),
    reading("U", "hey", "the User-Agent", "--user-agent {}"),
    reading("U", "curl", "a proxy's password", "the variable HTTP_PROXY"),
    reading("a", "oha, hey", "name and password", "--user NAME:PASSWORD"),
    reading("a", "bombardier", "a new connection for every request", "--no-connection-reuse"),
    reading("a", "k6", "the address of the REST API", "--address {}"),
    reading("b", "curl", "cookies", "--cookie {}"),
    reading("b", "bombardier", "a body", "--data {}"),
    reading("d", "wrk, bombardier, k6", "how long", "--duration 10s"),
    reading("d", "curl, oha, hey", "a body", "--data {}"),
    reading("e", "curl", "the Referer", "--referer {}"),
    reading("e", "k6", "a variable of __ENV, which a URL does not have", "nothing"),
    reading("f", "bombardier", "a body from this file", "--data-binary @{}"),
    reading("f", "curl", "a failure when there are errors", "--fail-on 'errors>0'"),
    reading("j", "oha", "the result as JSON", "--summary-export FILE"),
    reading("j", "curl", "no session cookies", "nothing"),
    reading("l", "bombardier", "percentiles, which are always printed", "nothing"),
    reading("l", "k6", "waiting after the end, which Onrush does not do", "nothing"),
    reading("m", "curl", "seconds that a request may take", "--max-time 2.5"),
    reading("m", "oha, hey, bombardier", "the method", "--request POST"),
    reading("o", "curl", "the answer in a file, which Onrush does not keep", "nothing"),
    reading("o", "oha, hey, bombardier", "the result in another form", "--summary-export {}"),
    reading("p", "oha", "streams on each connection of HTTP/2", "--streams {}"),
    reading("p", "bombardier", "less output", "--quiet"),
    reading("p", "curl", "a tunnel through a proxy", "the variable HTTP_PROXY"),
    reading("q", "oha", "requests a second", "--rate {}"),
    reading("q", "hey", "requests a second of each user", "--rate with {} × the users"),
    reading("r", "bombardier", "requests a second", "--rate {}"),
    reading("r", "oha", "redirects to follow", "--location --max-redirs {}"),
    reading("r", "curl", "a part of the answer", "--range {}-"),
    reading("s", "wrk", "a Lua script", "a script in JavaScript, in place of the URL,"),
    reading("s", "k6", "a ramp", "--stage 30s:10"),
    reading("s", "curl", "less output", "--quiet"),
    reading("t", "wrk", "threads", "--workers {}"),
    reading("t", "oha, hey, bombardier", "seconds that a request may take", "--max-time {}"),
    reading("u", "k6", "virtual users", "--vus 10"),
    reading("u", "curl", "name and password", "--user NAME:PASSWORD"),
    reading("u", "oha", "the unit of times", "--summary-time-unit ms"),
    reading("w", "k6", "an exception when a request fails", "--throw"),
    reading("w", "curl", "text about each answer, which Onrush does not print", "nothing"),
    reading("w", "oha", "waiting for requests under way, which Onrush does anyway", "nothing"),

    // hey writes these with one dash.
    reading("accept", "oha", "", "--header 'Accept: TYPE'"),
    reading("basic-auth", "oha", "", "--user NAME:PASSWORD"),
    reading("body", "bombardier", "", "--data TEXT"),
    reading("body-file", "bombardier", "", "--data-binary @FILE"),
    reading("content-type", "oha", "", "--header 'Content-Type: TYPE'"),
    reading("cpus", "hey", "", "--workers N"),
    reading("disable-compression", "oha, hey", "only --compressed asks for compressed answers", "nothing"),
    reading("disable-keepalive", "oha, hey", "", "--no-connection-reuse"),
    reading("disable-redirects", "hey", "only --location follows redirects", "nothing"),
    reading("disableKeepAlives", "bombardier", "", "--no-connection-reuse"),
    reading("fasthttp", "bombardier", "for HTTP/1.1 alone write --http1.1", "nothing"),
    reading("format", "bombardier", "", "--summary-export FILE"),
    reading("h1", "h2load", "", "--http1.1"),
    reading("h2", "hey", "requests use HTTP/2 over TLS when the server offers it", "nothing"),
    reading("host", "oha, hey", "", "--header 'Host: NAME'"),
    reading("http-version", "oha", "", "--http1.1 or --http2"),
    reading("http1", "bombardier", "", "--http1.1"),
    reading("http2-parallel", "oha", "", "--streams N"),
    reading("latencies", "bombardier", "percentiles are always printed", "nothing"),
    reading("latency", "wrk", "percentiles are always printed", "nothing"),
    reading("latency-correction", "oha", "latency is also given from the planned start with --rate", "nothing"),
    reading("max-concurrent-streams", "h2load", "", "--streams N"),
    reading("method", "oha, bombardier", "", "--request METHOD"),
    reading("no-print", "bombardier", "", "--quiet"),
    reading("print", "bombardier", "", "--quiet"),
    reading("redirect", "oha", "", "--location --max-redirs N"),
    reading("script", "wrk", "", "a script in JavaScript, in place of the URL"),
    reading("stream", "bombardier", "bodies from files are streamed", "nothing"),
    reading("timeout", "wrk, oha, bombardier", "", "--max-time SECONDS"),
];

/// What to write for a flag of another tool, by its name.
pub fn elsewhere(name: &str) -> Option<String> {
    let Reading { tools, means, write, .. } = READINGS.iter().find(|reading| reading.flag == name)?;
    let tools = match tools.rsplit_once(", ") {
        Some((first, last)) => format!("{first} and {last}"),
        None => (*tools).to_owned(),
    };
    Some(match *write {
        "nothing" => format!("this is a flag of {tools}; leave it out: {means}"),
        write => format!("this is a flag of {tools}; write {write}"),
    })
}

/// What a letter means before `ahead`: the rest of its word (`is_attached`), or the next word.
pub fn meaning(letter: char, ahead: &str, is_attached: bool) -> Letter {
    let curls = || flag::by_letter(letter).map_or(Letter::Unknown, Letter::Is);
    let open = || Letter::Open(refusal(letter, ahead));
    // The next word is no value of a flag that has none.
    let is_value = !is_attached && !ahead.is_empty() && !ahead.starts_with('-') && !is_url(ahead);
    match letter {
        'c' => Letter::With(Act::Vus),
        'n' => Letter::With(Act::Requests),
        'z' => Letter::With(Act::Duration),
        'q' if is_number(ahead) => open(),
        'q' => Letter::Alone(Act::Own("quiet")),
        'v' => Letter::Alone(Act::Own("verbose")),
        'd' if is_duration(ahead) => Letter::With(Act::Duration),
        'd' if is_like_a_time(ahead) => open(),
        'd' => Letter::With(Act::Data),
        'u' if is_number(ahead) => Letter::With(Act::Vus),
        'u' if ahead.contains(':') => Letter::With(Act::User),
        'i' if is_number(ahead) => Letter::With(Act::Requests),
        'R' if is_number(ahead) => Letter::With(Act::Rate),
        's' if is_stage(ahead) => Letter::With(Act::Stage),
        's' | 'f' if is_value => open(),
        'e' if ahead.contains("://") => Letter::With(Act::Referer),
        't' if is_duration(ahead) => Letter::With(Act::MaxTime),
        'r' if ahead.contains('-') => Letter::With(Act::Range),
        'm' if ahead.starts_with(|c: char| c.is_ascii_digit()) => Letter::With(Act::MaxTime),
        'm' if ahead.bytes().all(|b| b.is_ascii_alphabetic()) && !ahead.is_empty() => Letter::With(Act::Method),
        'A' if is_media_type(ahead) => Letter::Header("Accept"),
        'A' if is_number(ahead) || ahead.is_empty() => open(),
        'T' if is_media_type(ahead) && !std::path::Path::new(ahead).exists() => Letter::Header("Content-Type"),
        'D' | 'o' if ["-", "/dev/null"].contains(&ahead) => curls(),
        'b' if ahead.contains("; ") && !ahead.starts_with(['{', '[', '<']) => curls(),
        'D' | 'U' | 'a' | 'b' | 'e' | 'j' | 'l' | 'm' | 'o' | 'p' | 'r' | 't' | 'u' | 'w' => open(),
        _ => curls(),
    }
}

/// Says what to write for each reading of a letter.
pub fn refusal(letter: char, value: &str) -> String {
    let readings: Vec<&Reading> = READINGS.iter().filter(|reading| reading.is_of(letter)).collect();
    let shown = if value.is_empty() { String::from("VALUE") } else { quoted(value) };
    let one = |reading: &&Reading| {
        format!("{} for {} ({})", reading.write.replace("{}", &shown), reading.means, reading.tools)
    };
    let told: Vec<String> = readings.iter().map(one).collect();
    let (last, first) = told.split_last().expect("every letter that is refused is in the table");
    let things = if readings.len() == 2 { "two things" } else { "several things" };
    format!("-{letter} {value} can mean {things} with a URL: write {}, or {last}", first.join(", "))
}

/// As a shell takes it.
fn quoted(value: &str) -> String {
    let is_bare = |c: char| c.is_alphanumeric() || "-_./:@%+=,".contains(c);
    if value.chars().all(is_bare) { value.to_owned() } else { format!("'{}'", value.replace('\'', "'\\''")) }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `30s`, `1h30m`: with units, because a number alone may be a body.
pub fn is_duration(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_alphabetic())
        && Span::parse_with_unit(text).is_some()
}

/// What begins like a time but is not one: it may be a body.
fn is_like_a_time(text: &str) -> bool {
    text.is_empty()
        || text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == ' ')
}

fn is_stage(text: &str) -> bool {
    text.split(',').all(|stage| stage.split_once(':').is_some_and(|(time, vus)| is_duration(time) && is_number(vus)))
}

/// `application/json`, `text/html, */*;q=0.8`: RFC 9110 section 12.5.1, with the types that are registered.
fn is_media_type(text: &str) -> bool {
    const TYPES: [&str; 11] =
        ["*", "application", "audio", "example", "font", "haptics", "image", "message", "model", "multipart", "text"];
    let is_one = |range: &str| {
        let kind = range.split(';').next().unwrap_or_default().trim();
        kind.split_once('/').is_some_and(|(kind, sub)| (TYPES.contains(&kind) || kind == "video") && !sub.is_empty())
    };
    text.split(',').all(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value that leaves the letter open.
    fn open_value(letter: char) -> &'static str {
        match letter {
            'A' | 'd' | 'q' | 'r' | 't' => "30",
            'a' => "me:secret",
            'b' => "a=b",
            'e' => "A=b",
            's' => "post.lua",
            _ => "body.json",
        }
    }

    #[test]
    fn every_reading_is_told_with_what_to_write() {
        for reading in READINGS.iter().filter(|reading| reading.flag.len() == 1) {
            let letter = reading.flag.chars().next().unwrap();
            let value = open_value(letter);
            let Letter::Open(told) = meaning(letter, value, false) else {
                assert_eq!(letter, 'm', "-{letter} {value} is settled");
                continue;
            };
            let write = reading.write.replace("{}", value);
            assert!(told.contains(&write) && told.contains(reading.tools) && told.contains(reading.means), "{told}");
            assert!(told.starts_with(&format!("-{letter} {value} can mean ")), "{told}");
        }
    }

    #[test]
    fn readings_are_told_in_one_sentence() {
        assert_eq!(
            refusal('t', "30"),
            "-t 30 can mean two things with a URL: write --workers 30 for threads (wrk), or --max-time 30 for seconds \
             that a request may take (oha, hey, bombardier)"
        );
        assert!(
            refusal('D', "my body")
                .contains("write --data-binary @'my body' for a body from this file (oha, hey), or ")
        );
    }

    #[test]
    fn a_value_settles_what_it_can() {
        let shown = |letter: char, ahead: &str| match meaning(letter, ahead, false) {
            Letter::Is(flag) => format!("curl --{}", flag.long),
            Letter::Alone(act) => format!("{act:?}"),
            Letter::With(act) => format!("{act:?}={ahead}"),
            Letter::Header(name) => format!("{name}: {ahead}"),
            Letter::Open(_) => String::from("open"),
            Letter::Unknown => String::from("unknown"),
        };
        for (letter, ahead, expected) in [
            ('A', "application/json", "Accept: application/json"),
            ('A', "text/html, */*;q=0.8", "Accept: text/html, */*;q=0.8"),
            ('A', "Mozilla/5.0 (X11; Linux)", "curl --user-agent"),
            ('A', "curl/8.0", "curl --user-agent"),
            ('D', "/dev/null", "curl --dump-header"),
            ('T', "application/json", "Content-Type: application/json"),
            ('T', "file.bin", "curl --upload-file"),
            ('b', "a=1; b=2", "curl --cookie"),
            ('b', "{\"a\": \"b; c\"}", "open"),
            ('f', "http://h/", "curl --fail"),
            ('f', "-s", "curl --fail"),
            ('m', "2.5", "MaxTime=2.5"),
            ('m', "POST", "Method=POST"),
            ('m', "", "open"),
            ('o', "/dev/null", "curl --output"),
            ('o', "-", "curl --output"),
            ('q', "http://h/", "Own(\"quiet\")"),
            ('r', "0-99", "Range=0-99"),
            ('r', "100-", "Range=100-"),
            ('s', "10s:5", "Stage=10s:5"),
            ('s', "localhost:8080", "curl --silent"),
            ('t', "5s", "MaxTime=5s"),
            ('u', "ms", "open"),
            ('?', "", "unknown"),
        ] {
            assert_eq!(shown(letter, ahead), expected, "-{letter} {ahead}");
        }
        assert!(matches!(meaning('f', "sSL", true), Letter::Is(_)), "-fsSL");
    }

    #[test]
    fn names_of_other_tools_are_none_of_ours() {
        for (index, reading) in READINGS.iter().enumerate() {
            let name = reading.flag;
            if name.len() > 1 {
                assert!(flag::by_name(name).is_none() && crate::flags::takes_word(name).is_none(), "--{name}");
                assert!(READINGS[index + 1..].iter().all(|other| other.flag != name), "--{name} twice");
            }
            // The advice is a flag here.
            let words = [reading.means, reading.write].into_iter().flat_map(str::split_whitespace);
            for word in words.filter_map(|word| word.strip_prefix("--")) {
                assert!(flag::by_name(word).is_some() || crate::flags::takes_word(word).is_some(), "--{word}");
            }
        }
    }

    #[test]
    fn a_name_of_another_tool_is_told_with_what_to_write() {
        for (name, expected) in [
            ("accept", "this is a flag of oha; write --header 'Accept: TYPE'"),
            ("host", "this is a flag of oha and hey; write --header 'Host: NAME'"),
            ("timeout", "this is a flag of wrk, oha and bombardier; write --max-time SECONDS"),
            ("stream", "this is a flag of bombardier; leave it out: bodies from files are streamed"),
        ] {
            assert_eq!(elsewhere(name).as_deref(), Some(expected));
        }
        assert_eq!(elsewhere("nothing-of-the-kind"), None);
    }
}
