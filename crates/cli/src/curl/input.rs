//! `-` as a file, where what a command reads from its standard input is known: a here-document, a here-string, `<
//! file`, or what `cat` and `echo` print into it.
//!
//! Rewrites the flags of a line, so that each reads a text or a file in the place of standard input. Standard input can
//! be read once: a second `-` reads nothing.

use convert::commands::Input;

use super::flag::Act;
use super::line::{Given, Line};

/// Gives a line what its command reads; the error says why that is not known.
pub fn fill(line: &mut Line, input: Option<&Input>) -> Result<(), String> {
    let mut input = input.cloned();
    let mut given = Vec::with_capacity(line.given.len());
    for flag in line.given.drain(..) {
        if !reads(&flag) {
            given.push(flag);
            continue;
        }
        match input.clone() {
            None => given.push(flag),
            Some(Input::Unknown(command)) => {
                return Err(format!(
                    "{} {}: standard input is what '{command}' prints, which is not known here: put it into a file",
                    flag.spelled, flag.value
                ));
            }
            Some(Input::File(path)) => given.push(of_file(flag, &path)),
            Some(Input::Text(text)) => given.extend(of_text(flag, &text)),
        }
        if input.is_some() {
            input = Some(Input::Text(String::new()));
        }
    }
    line.given = given;
    Ok(())
}

/// Whether a flag reads standard input.
fn reads(given: &Given) -> bool {
    let value = given.value.as_str();
    match given.act {
        Act::Data | Act::DataBinary | Act::Json | Act::Header => value == "@-",
        Act::DataUrlencode | Act::UrlQuery => value.find(['=', '@']).is_some_and(|at| &value[at..] == "@-"),
        Act::Form => value.split_once('=').is_some_and(|(_, content)| is_form_input(content)),
        _ => false,
    }
}

fn is_form_input(content: &str) -> bool {
    let file = content.strip_prefix(['@', '<']);
    file.is_some_and(|file| file == "-" || file.starts_with("-;"))
}

fn of_file(given: Given, path: &str) -> Given {
    let value = match (given.act, given.value.split_once('=')) {
        (Act::Form, Some((name, content))) => {
            let (mark, rest) = (&content[..1], &content[2..]);
            let own = if mark == "@" && !rest.contains("filename=") { ";filename=-" } else { "" };
            format!("{name}={mark}{}{rest}{own}", quoted(path))
        }
        _ => format!("{}{path}", &given.value[..given.value.len() - 1]),
    };
    Given { value, ..given }
}

fn of_text(given: Given, text: &str) -> Vec<Given> {
    let with = |act: Act, value: String| vec![Given { act, spelled: given.spelled.clone(), value }];
    match given.act {
        Act::Data => with(Act::DataRaw, text.replace(['\r', '\n'], "")),
        Act::DataBinary => with(Act::DataRaw, text.to_owned()),
        Act::DataUrlencode | Act::UrlQuery => {
            let name = given.value.trim_end_matches("@-");
            with(given.act, format!("{name}={text}"))
        }
        Act::Header => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.flat_map(|line| with(Act::Header, line.to_owned())).collect()
        }
        Act::Form => {
            let (name, content) = given.value.split_once('=').unwrap_or_default();
            let (mark, rest) = (&content[..1], &content[2..]);
            let mut value = format!("{name}={}{rest}", quoted(text));
            if mark == "@" {
                value.push_str(if rest.contains("filename=") { "" } else { ";filename=-" });
                value.push_str(if rest.contains("type=") { "" } else { ";type=application/octet-stream" });
            }
            with(Act::Form, value)
        }
        act => with(act, text.to_owned()),
    }
}

/// As the value of a form has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::super::line::Dialect;
    use super::*;
    use convert::shell;

    fn filled(words: &str, input: &Input) -> Vec<String> {
        let mut line = Line::read(Dialect::Curl, shell::split(words).expect("a good line"));
        fill(&mut line, Some(input)).expect("known");
        line.given.iter().map(|given| format!("{:?} {}", given.act, given.value)).collect()
    }

    #[test]
    fn standard_input_is_a_text_or_a_file() {
        let (text, file) = (Input::Text("a \"b\"\nc\n".into()), Input::File("f".into()));
        for (words, of_text, of_file) in [
            ("-d @-", "DataRaw a \"b\"c", "Data @f"),
            ("--data-binary @-", "DataRaw a \"b\"\nc\n", "DataBinary @f"),
            ("--data-urlencode n@-", "DataUrlencode n=a \"b\"\nc\n", "DataUrlencode n@f"),
            ("--url-query @-", "UrlQuery =a \"b\"\nc\n", "UrlQuery @f"),
            ("--json @-", "Json a \"b\"\nc\n", "Json @f"),
            ("-F 'n=<-;type=x/y'", "Form n=\"a \\\"b\\\"\nc\n\";type=x/y", "Form n=<\"f\";type=x/y"),
            (
                "-F n=@-",
                "Form n=\"a \\\"b\\\"\nc\n\";filename=-;type=application/octet-stream",
                "Form n=@\"f\";filename=-",
            ),
            ("-d @other", "Data @other", "Data @other"),
        ] {
            assert_eq!(filled(words, &text), [of_text], "{words}");
            assert_eq!(filled(words, &file), [of_file], "{words}");
        }
        assert_eq!(filled("-d @- -d @-", &text), ["DataRaw a \"b\"c", "DataRaw "], "it is read once");
        assert_eq!(filled("-H @-", &Input::Text("A: b\n\nC: d\n".into())), ["Header A: b", "Header C: d"]);
        let mut line = Line::read(Dialect::Curl, vec!["-d".into(), "@-".into()]);
        let why = fill(&mut line, Some(&Input::Unknown("jq".into()))).expect_err("unknown");
        assert!(why.contains("what 'jq' prints"), "{why}");
    }
}
