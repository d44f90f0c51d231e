//! Quick mode: a URL instead of a script. `onrush run URL` and `onrush curl …` become a script that is run like any other.
//!
//! Nothing but the script differs: same engine, same options, same summary, with a headline above it. Whether a command line
//! is a quick run is known from its words alone: one of them is a URL (`onrush run`), or the command is `curl`.

mod address;
pub mod body;
mod failures;
mod flag;
mod form;
mod headers;
mod headline;
mod letter;
mod line;
mod reach;
pub mod request;
pub mod script;
mod shell;
pub mod source;
mod traffic;

use std::ffi::OsString;
use std::sync::{Arc, OnceLock};

use ::script::Source;
use ::script::log::{Level, LogSink};
use metrics::results::Results;
use metrics::{Registry, builtin};
use report::errors::{Errors, times};

use self::flag::Act;
use self::headline::Headline;
use self::line::{Dialect, Line};
use self::request::Request;
use self::traffic::Traffic;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;

/// What `onrush run --help` says about URLs; lines are shorter than those that help is folded to.
pub const HELP: &str = "\
The script may be - for standard input.

With a URL instead of a script, Onrush requests that URL again and again: ten users for ten
seconds, unless told otherwise. The word run may be left out.
  onrush http://localhost:8080/
  onrush run -c 64 -d 30s http://localhost:8080/get
  onrush run --rate 100 -d 1m -H 'Accept: text/html' https://test.example/
  onrush run -n 500 -X PUT --json @item.json localhost:8080/anything/items/1

Long flags are those above and curl's: --header, --data, --form, --user, --unix-socket, …
Letters are curl's (-X -H -F -G -I -L -k …), except for these:
  -c, --vus N           users, each with its own connection; with --rate the most at a time
  -d, --duration TIME   how long; -d with anything but a time is curl's --data
  -n, --requests N      so many requests in all; also -i N
  --rate N[/s|/m|/h]    start requests on this schedule, whatever the server does; also -R N
  -s, --stage TIME:N    ramp to so many users over this time
  -u N, -z TIME         users as in k6, how long as in oha
  --show-script         print the script that the run stands for, to go on from there
A letter that means something else in wrk, oha, hey or bombardier is refused with what to write,
unless its value settles it (-t, -r, -D, -o, -b, -q …). curl's flags about its output are ignored
and named. Onrush takes a whole curl command as it is by: onrush curl

Exit codes: 99 when a --threshold or --fail-on does not hold, 113 when no request of a URL
succeeded; all of them are in README.md.";

/// What `onrush curl --help` says.
pub const CURL_HELP: &str = "\
Examples:
  onrush curl --vus 20 --duration 30s 'curl https://test.example/ -H \"accept: text/html\"'
  onrush curl -X POST -d a=b localhost:8080/post --rate 100

The command is taken as one quoted argument, as browsers copy it (\"copy as cURL (bash)\"), or word
by word. Letters are curl's; the load is said by long flags, anywhere in the line:
  --vus N               users, each with its own connection; with --rate the most at a time
  --duration TIME       how long
  --requests N          so many requests in all
  --rate N[/s|/m|/h]    start requests on this schedule, whatever the server does
  --stage TIME:N        ramp to so many users over this time
  --show-script         print the script that the run stands for
Without them it is ten users for ten seconds. Every long flag of onrush run works too.";

/// A run without a script of the user's.
#[derive(Debug)]
pub struct Quick {
    /// The script.
    pub text: String,
    /// What is said before the run.
    notes: Vec<String>,
    unheard: Vec<&'static str>,
    scheduled: bool,
    failures: OnceLock<Arc<failures::Failures>>,
}

/// `onrush curl`, for its help alone: its command lines are read here.
pub fn curl_command() -> clap::Command {
    clap::Command::new("curl")
        .about("Run a load test with the request of a curl command")
        .override_usage("onrush curl [LOAD] <'curl …' | FLAGS… URL>")
        .after_help(CURL_HELP)
        .arg(clap::Arg::new("command").value_name("COMMAND").num_args(0..).help("A curl command"))
}

/// What a command line turned out to be.
pub enum Command {
    /// Not a quick run: goes on as it is.
    Ordinary(Vec<OsString>),
    /// A quick run, and the arguments of `run` that go with it.
    Quick(Box<Quick>, Vec<OsString>),
    /// The script, to be printed.
    Show(String),
}

/// Finds out whether a command line is a quick run, and makes its script.
pub fn recognise(arguments: Vec<OsString>) -> Result<Command, Failure> {
    let arguments = with_the_command(arguments)?;
    let dialect = match arguments.get(1).and_then(|name| name.to_str()) {
        Some("run") => Dialect::Run,
        Some("curl") => Dialect::Curl,
        _ => return Ok(Command::Ordinary(arguments)),
    };
    let words: Option<Vec<String>> = arguments[2..].iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let Some(words) = words else {
        return match dialect {
            Dialect::Run => Ok(Command::Ordinary(arguments)),
            Dialect::Curl => Err(refused(
                "an argument is not UTF-8 text: put its bytes into a file and send it with --data-binary @file",
            )),
        };
    };
    let line = Line::read(dialect, words);
    if line.help || dialect == Dialect::Run && !is_url_given(&line)? {
        return Ok(Command::Ordinary(arguments));
    }
    let quick = build(&line, dialect).map_err(refused)?;
    if line.given.iter().any(|given| given.act == Act::ShowScript) {
        return Ok(Command::Show(quick.0.text));
    }
    let (quick, url) = quick;
    let head = [arguments[0].clone(), OsString::from("run")];
    let own = line.own.iter().map(OsString::from);
    // A URL stands where the script would.
    let arguments = head.into_iter().chain(own).chain([OsString::from("--"), OsString::from(url)]).collect();
    Ok(Command::Quick(Box::new(quick), arguments))
}

/// `onrush URL` and `onrush -c 64 URL` mean `onrush run …`. A script alone is told how it is run.
fn with_the_command(mut arguments: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let Some(first) = words.next() else { return Ok(arguments) };
    if has_script_ending(first) && std::path::Path::new(first).exists() {
        return Err(refused(format!("{first} is no command; to run it write: onrush run {first}")));
    }
    if is_url(first) || first.starts_with('-') && words.any(is_url) {
        arguments.insert(1, OsString::from("run"));
    }
    Ok(arguments)
}

fn build(line: &Line, dialect: Dialect) -> Result<(Quick, String), String> {
    if let Some(problem) = line.problems.first() {
        return Err(problem.clone());
    }
    let url = the_url(line)?;
    let request = Request::of(line, &url, dialect)?;
    let traffic = Traffic::of(&line.given)?;
    let text = script::script(&request, &traffic.options(), 1);
    let shown = wire::Url::parse(&request.url).map_or_else(|_| url.clone(), |url| url.text.clone());
    let quick = Quick {
        text,
        notes: notes(line, &shown),
        unheard: traffic.unheard(),
        scheduled: traffic.is_scheduled(),
        failures: OnceLock::new(),
    };
    Ok((quick, shown))
}

fn the_url(line: &Line) -> Result<String, String> {
    let given = line.given.iter().filter(|given| given.act == Act::Url).map(|given| &given.value);
    let mut urls = given.chain(&line.words);
    match (urls.next(), urls.next()) {
        (Some(url), None) => Ok(url.clone()),
        (None, _) => Err("there is no URL; expected one, as in http://host/path".into()),
        (Some(one), Some(other)) => Err(format!(
            "found two URLs, {one} and {other}: a quick run repeats one request; put several into a script"
        )),
    }
}

/// Flags that are ignored, and a script that is taken for a page.
fn notes(line: &Line, url: &str) -> Vec<String> {
    let mut aside: Vec<&str> = Vec::new();
    for given in line.given.iter().filter(|given| given.act == Act::Output) {
        if !aside.contains(&given.spelled.as_str()) {
            aside.push(&given.spelled);
        }
    }
    let mut notes = Vec::new();
    if !aside.is_empty() {
        notes.push(format!("ignored (output only): {}", aside.join(" ")));
    }
    let path = url.split('?').next().unwrap_or_default();
    if has_script_ending(path) && path.matches('/').count() > 2 {
        notes.push(format!("{url} is requested, not run; download it to run it as a script"));
    }
    notes
}

/// Whether one of the words is a URL. A word that is neither a file nor a URL is told here, where both readings are known.
fn is_url_given(line: &Line) -> Result<bool, Failure> {
    if line.given.iter().any(|given| given.act == Act::Url) || line.words.iter().any(|word| is_url(word)) {
        return Ok(true);
    }
    match &line.words[..] {
        [word] if word != "-" && !has_script_ending(word) && !std::path::Path::new(word).exists() => {
            Err(refused(format!(
                "{word} is neither a script nor a URL: there is no such file, and a URL has a scheme, a port or a domain, as in \
                 http://host/path, localhost:8080 or test.example/path"
            )))
        }
        _ => Ok(false),
    }
}

/// `http://…`, or what curl would take for a host and no file is called.
fn is_url(word: &str) -> bool {
    if let Some((scheme, _)) = word.split_once("://") {
        return scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+') && scheme != "file";
    }
    let authority = word.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let has_port = port.is_some_and(|port| port.parse::<u16>().is_ok());
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]%".contains(&b);
    let is_host = !host.is_empty() && !host.starts_with(['.', '-']) && host.bytes().all(fine) || !host.is_ascii();
    let is_known = host == "localhost" || host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    let is_domain = host.contains('.')
        && !has_script_ending(word)
        && !["json", "tar", "txt", "lua"].iter().any(|end| word.ends_with(end));
    is_host && (has_port || is_known || is_domain) && !std::path::Path::new(word).exists()
}

fn has_script_ending(path: &str) -> bool {
    [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"].iter().any(|end| path.ends_with(end))
}

fn refused(message: impl Into<String>) -> Failure {
    Failure::new(ExitCode::Generic, message)
}

impl Quick {
    /// Has answers counted by status, and says what there is to say before the run.
    pub fn prepare(&self, registry: &Registry, log: &Logger) {
        registry.split(builtin::HTTP_REQS, &["status"]);
        self.notes.iter().for_each(|note| log.write(Level::Info, note, &[]));
    }

    /// The script; its relative paths start at the working directory, as the user's do.
    pub fn source(&self) -> Source {
        Source::Text { name: String::from("-"), text: self.text.clone() }
    }

    /// Where the script's log lines go.
    pub fn log(&self, log: &Arc<Logger>) -> Arc<dyn LogSink> {
        self.failures.get_or_init(|| Arc::new(failures::Failures::new(log.clone()))).clone()
    }

    /// Names of variables of the environment that flags of the command line have beaten.
    pub fn unheard(&self) -> &[&'static str] {
        &self.unheard
    }

    /// The lines above the summary.
    pub fn headline(&self, results: &Results) -> String {
        self.head(results).text()
    }

    /// Why a run that went to its end is no success: no request was made, or none came to an answer below 400. Each iteration
    /// makes one request; its redirects are counted as requests too, and only the last of them can fail.
    pub fn failure(&self, results: &Results) -> Option<String> {
        let (errors, requests) = (Errors::from(results), results.count("http_reqs"));
        let (unanswered, refused) = (errors.without_answer(), errors.unexpected_answers());
        match (requests, unanswered + refused) {
            (0, _) => Some(String::from("no request was made: there is nothing to report")),
            (_, failed) if failed == 0 || failed < results.count("iterations") => None,
            (1, _) if unanswered == 1 => Some(String::from("the request got no answer")),
            (1, _) => Some(format!("the request failed: {}", errors.named_statuses(false))),
            (all, _) if unanswered == all => Some(format!("none of the {all} requests got an answer")),
            (_, failed) => {
                let unanswered = (unanswered > 0).then(|| format!("no answer {}", times(unanswered)));
                let statuses = Some(errors.named_statuses(false)).filter(|named| !named.is_empty());
                let named: Vec<String> = statuses.into_iter().chain(unanswered).collect();
                Some(format!("all {failed} requests failed: {}", named.join(", ")))
            }
        }
    }

    fn head<'a>(&self, results: &'a Results) -> Headline<'a> {
        let failures = self.failures.get().map(|failures| failures.counted()).unwrap_or_default();
        Headline::new(results, failures, self.scheduled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(line: &str) -> Result<Command, Failure> {
        recognise(shell::split(line).expect("a good line").into_iter().map(OsString::from).collect())
    }

    #[test]
    fn urls_are_told_from_files() {
        for url in [
            "http://h",
            "HTTPS://h/x.js",
            "localhost",
            "localhost:8080/x",
            "127.0.0.1",
            "[::1]:80/x",
            "test.example/a?b",
            "host:8080",
            "ftp://h",
        ] {
            assert!(is_url(url), "{url}");
        }
        for other in
            ["script.js", "a/b.ts", "-", "./x.y", "../a.b", "nope", "data.json", "a:b", "Cargo.toml", "file:///x"]
        {
            assert!(!is_url(other), "{other}");
        }
    }

    #[test]
    fn a_line_with_a_script_goes_on_as_it_is() {
        for line in [
            "onrush run script.js",
            "onrush run -d 10 -e A=b -w script.js",
            "onrush run -w=true -e URL=http://h/ script.js",
            "onrush run -a localhost:6565 --out x=http://h/ script.js",
            "onrush run -u 5 -",
            "onrush serve http://h",
            "onrush run --help",
            "onrush curl --help",
            "onrush run",
            "onrush run --config x.json s.js",
            "onrush",
        ] {
            assert!(matches!(recognised(line), Ok(Command::Ordinary(_))), "{line}");
        }
    }

    #[test]
    fn a_url_needs_no_command() {
        for line in ["onrush http://h/x", "onrush -c 5 localhost:8080", "onrush --rate 5 http://h/ -d 1s"] {
            assert!(matches!(recognised(line), Ok(Command::Quick(..))), "{line}");
        }
        assert!(matches!(recognised("onrush --version"), Ok(Command::Ordinary(_))));
    }

    #[test]
    fn a_line_with_a_url_becomes_arguments_of_run() {
        let line = "onrush run -c 5 --tag a=b -q http://u:p@h/x --summary-mode=full";
        let Ok(Command::Quick(quick, arguments)) = recognised(line) else { panic!("a quick run") };
        let shown: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
        let expected = ["onrush", "run", "--tag=a=b", "--quiet", "--summary-mode=full", "--", "http://****:****@h/x"];
        assert_eq!(shown, expected);
        assert!(quick.text.contains("vus: 5"));
    }

    /// Whatever is typed gets an answer: no line makes it panic.
    #[test]
    fn any_line_is_answered() {
        const PIECES: [&str; 36] = [
            "-",
            "--",
            "-d",
            "-F",
            "-H",
            "-u",
            "-s",
            "-e",
            "-X",
            "-G",
            "-T",
            "-b",
            "-sSL",
            "--data=",
            "--resolve",
            "--connect-to",
            "--url-query",
            "--rate",
            "--stage",
            "--cert",
            "a=@",
            "@",
            "=",
            ";type=",
            "\"",
            "\\",
            ":",
            "h",
            "http://",
            "/..",
            "?",
            "é",
            "[",
            "1",
            "10s",
            "'",
        ];
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut below = |n: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % n
        };
        let (mut quick, mut refused) = (0, 0);
        for _ in 0..1_000 {
            let mut words = vec![String::from("onrush"), String::from(["run", "curl"][below(2)])];
            for _ in 0..below(7) {
                let pieces: String = (0..1 + below(4)).map(|_| PIECES[below(PIECES.len())]).collect();
                words.push(if below(9) == 0 {
                    format!("curl {pieces} {}", PIECES[below(PIECES.len())])
                } else {
                    pieces
                });
            }
            match recognise(words.into_iter().map(OsString::from).collect()) {
                Ok(Command::Quick(..)) => quick += 1,
                Ok(_) => {}
                Err(failure) => refused += usize::from(!failure.message.is_empty()),
            }
        }
        assert!(quick > 2 && refused > 250, "{quick} runs, {refused} refused: the pieces no longer make lines");
    }

    #[test]
    fn what_is_neither_is_told_with_both_readings() {
        let message = |line: &str| match recognised(line) {
            Err(failure) => failure.message,
            Ok(_) => panic!("{line} is taken"),
        };
        assert!(message("onrush run -w http://h/").contains("-w http://h/ can mean several things"));
        assert!(message("onrush run nope").contains("neither a script nor a URL"));
        assert!(message("onrush run http://a http://b").contains("found two URLs"));
        assert!(message("onrush curl -X GET").contains("there is no URL"));
    }
}
