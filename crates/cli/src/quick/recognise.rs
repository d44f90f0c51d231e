//! Whether a command line is a quick run, and which script it stands for. That is known from its words alone: one of
//! them is a URL (`onrush run`), or the command is `curl`.

use std::ffi::OsString;

use super::Quick;
use super::script;
use super::traffic::Traffic;
use crate::curl::flag::Act;
use crate::curl::line::{Dialect, Line};
use crate::curl::request::Request;
use crate::curl::url_word::{has_script_ending, is_url};
use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// What a command line turned out to be.
pub enum Recognised {
    /// Not a quick run: continues as it is.
    Ordinary(Vec<OsString>),
    /// A quick run, and the arguments of `run` that go with it.
    Quick(Box<Quick>, Vec<OsString>),
    /// The script, to be printed.
    Show(String),
}

/// Finds out whether a command line is a quick run, and makes its script.
pub fn recognise(arguments: Vec<OsString>) -> Result<Recognised, Failure> {
    let arguments = with_the_command(arguments)?;
    let dialect = match arguments.get(1).and_then(|name| name.to_str()) {
        Some("run") => Dialect::Run,
        Some("curl") => Dialect::Curl,
        _ => return Ok(Recognised::Ordinary(arguments)),
    };
    let words: Option<Vec<String>> = arguments[2..].iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let Some(words) = words else {
        return match dialect {
            Dialect::Run => Ok(Recognised::Ordinary(arguments)),
            Dialect::Curl => Err(refused(
                "an argument is not UTF-8 text: put its bytes into a file and send it with --data-binary @file",
            )),
        };
    };
    let line = Line::read(dialect, words);
    if line.help || dialect == Dialect::Run && !is_url_given(&line)? {
        return Ok(Recognised::Ordinary(arguments));
    }
    let quick = build(&line, dialect).map_err(refused)?;
    if line.given.iter().any(|given| given.act == Act::ShowScript) {
        return Ok(Recognised::Show(quick.0.text));
    }
    let (quick, url) = quick;
    let head = [arguments[0].clone(), OsString::from("run")];
    let own = line.own.iter().map(OsString::from);
    // A URL is where the script would.
    let arguments = head.into_iter().chain(own).chain([OsString::from("--"), OsString::from(url)]).collect();
    Ok(Recognised::Quick(Box::new(quick), arguments))
}

/// `onrush URL` and `onrush -c 64 URL` mean `onrush run …`. A script alone gets a hint how to run it.
fn with_the_command(mut arguments: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let Some(first) = words.next() else { return Ok(arguments) };
    if has_script_ending(first) && std::path::Path::new(first).exists() {
        return Err(refused(format!("{first} is not a command; to run it write: onrush run {first}")));
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
    let quick = Quick::new(text, notes(line, &shown), &traffic);
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

/// Whether one of the words is a URL. A word that is neither a file nor a URL is refused here, where both readings are
/// known.
fn is_url_given(line: &Line) -> Result<bool, Failure> {
    if line.given.iter().any(|given| given.act == Act::Url) || line.words.iter().any(|word| is_url(word)) {
        return Ok(true);
    }
    if let Some(url) = line.given.iter().find(|given| given.act == Act::Json && is_url(&given.value)) {
        return Err(refused(format!(
            "--json {}: with a URL, --json is curl's, the body of the request; for the answer of the run as JSON write \
             --summary-mode json",
            url.value
        )));
    }
    match &line.words[..] {
        [word] if word != "-" && !has_script_ending(word) && !std::path::Path::new(word).exists() => {
            Err(refused(format!(
                "{word} is neither a script nor a URL: there is no such file, and a URL has a scheme, a port or a \
                 domain, as in http://host/path, localhost:8080 or test.example/path"
            )))
        }
        _ => Ok(false),
    }
}

fn refused(message: impl Into<String>) -> Failure {
    Failure::new(ExitCode::Generic, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use convert::shell;

    fn recognised(line: &str) -> Result<Recognised, Failure> {
        recognise(shell::split(line).expect("a good line").into_iter().map(OsString::from).collect())
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
            "onrush run --json s.js",
            "onrush run s.js --json",
            "onrush",
        ] {
            assert!(matches!(recognised(line), Ok(Recognised::Ordinary(_))), "{line}");
        }
    }

    #[test]
    fn a_url_needs_no_command() {
        for line in ["onrush http://h/x", "onrush -c 5 localhost:8080", "onrush --rate 5 http://h/ -d 1s"] {
            assert!(matches!(recognised(line), Ok(Recognised::Quick(..))), "{line}");
        }
        assert!(matches!(recognised("onrush --version"), Ok(Recognised::Ordinary(_))));
    }

    #[test]
    fn a_line_with_a_url_becomes_arguments_of_run() {
        let line = "onrush run -c 5 --tag a=b -q http://u:p@h/x --summary-mode=full";
        let Ok(Recognised::Quick(quick, arguments)) = recognised(line) else { panic!("a quick run") };
        let shown: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
        let expected = ["onrush", "run", "--tag=a=b", "--quiet", "--summary-mode=full", "--", "http://****:****@h/x"];
        assert_eq!(shown, expected);
        assert!(quick.text.contains("vus: 5"));
    }

    /// Pieces of command lines.
    const PIECES: &str = "- -- -d -F -H -u -s -e -X -G -T -b -sSL --data= --resolve --connect-to \
        --url-query --rate --stage --cert a=@ @ = ;type= \" \\ : h http:// /.. ? é [ 1 10s '";

    /// Whatever is typed gets an answer: no line makes it panic.
    #[test]
    fn any_line_is_answered() {
        let pieces: Vec<&str> = PIECES.split(' ').collect();
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
                let word: String = (0..1 + below(4)).map(|_| pieces[below(pieces.len())]).collect();
                words.push(if below(9) == 0 { format!("curl {word} {}", pieces[below(pieces.len())]) } else { word });
            }
            match recognise(words.into_iter().map(OsString::from).collect()) {
                Ok(Recognised::Quick(..)) => quick += 1,
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
        assert!(message("onrush run --json http://h/").contains("write --summary-mode json"));
        assert!(message("onrush run http://a http://b").contains("found two URLs"));
        assert!(message("onrush curl -X GET").contains("there is no URL"));
    }
}
