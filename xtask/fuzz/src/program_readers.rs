//! Readers of the program itself: command lines of curl and of quick runs, archives, recorded requests, outputs.
//!
//! What a command line becomes is a script, which must compile; `scripts.rs` tries that.

use std::path::PathBuf;
use std::rc::Rc;

use cli::fuzzing;
use convert::{Style, shell};
use engine::pacer::Rate;
use engine::scenario::Hold;
use report::capacity::Objective;

use super::corpus;
use super::scripts::Compiler;
use super::subjects::{Check, Subject};

/// All of them.
pub const ALL: &[Subject] = &[
    Subject {
        name: "curl",
        examples: &[
            "curl 'http://h/a?b=c' -H \"X: y\" --data-raw $'a\\nb' -k --compressed -u me:word -b a=b -X PUT\n",
            "curl -F 'a=b;type=text/plain' -F x=@f -G -d q=1 --url-query '+r=2' 'http://[::1]/{a,b}[1-3]' --next \\\n \
             curl -T f http://h/ -r 0-5 --json '{\"a\":`${b}`}' -L --max-redirs 3 --resolve h:80:1.2.3.4\n",
            "curl -K- <<E\nurl = http://h/\nE\ncurl --data-urlencode 'n=ü&x' -e http://r/ -A ua --http2 http://h/#f",
        ],
        words: &[
            "-H ",
            "-d ",
            "-F ",
            "'",
            "\"",
            "\\",
            "$'",
            "--",
            "-X ",
            "-u ",
            "=",
            "@",
            ";type=",
            "http://h/",
            "--next ",
            "{",
            "}",
            "[",
            "]",
            "\n",
            "<<E\n",
            "|",
            "-G ",
            "--json ",
            "`",
            "${",
        ],
        start: curl,
    },
    Subject {
        name: "quick-run",
        examples: &[
            "http://h/a -c 64 -d 30s -R 2k -H 'X: y' -m POST",
            "http://u:p@h/ -n 1000 -c 10 -T 5s --data-urlencode a=b -k -o x",
            "-z 10s -q 5 -t 4 https://h -D f -A text/html -x 127.0.0.1:80 --latency",
        ],
        words: &[
            "-c ",
            "-d ",
            "-n ",
            "-R ",
            "-H ",
            "-t ",
            "-q ",
            "http://h/",
            "10s",
            "2k",
            "'",
            "--",
            "=",
            "-X",
            "1e9",
        ],
        start: quick_run,
    },
    Subject {
        name: "archive",
        examples: &[
            "0 metadata.json {\"type\":\"js\",\"options\":{\"vus\":1,\"x\":null},\"filename\":\"file:///a/b.js\",\
             \"env\":{\"A\":\"b\"}}\n0 data export default function () {}\n5 file/a \n1 file/a/b.js \n\
             0 file/a/c.txt hello\n0 https/h/x.js export const a = 1\n",
            "0 metadata.json {\"filename\":\"file:///b.js\"}\n0 data x\n0 file/../../evil x\n",
        ],
        words: &[
            "0 ",
            "1 ",
            "2 ",
            "5 ",
            "L ",
            "x ",
            "K ",
            "../",
            "../../evil",
            "file/",
            "https/",
            "metadata.json ",
            "data ",
            "/",
            "\n",
            "//",
            "./",
        ],
        start: archives,
    },
    Subject {
        name: "recorded-request",
        examples: &[
            "POST http://h/a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi\r\nPUT /b HTTP/1.1\r\n\
             Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n3;x\r\nabc\r\n0\r\nT: x\r\n\r\n",
            "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n",
        ],
        words: &["\r\n", "\n", " ", ":", "Content-Length: ", "Transfer-Encoding: chunked", "ffffffffffffffff", "0"],
        start: || Ok(Box::new(fuzzing::recorded_requests)),
    },
    Subject {
        name: "debug-messages",
        examples: &[
            "Content-Length: 31\r\n\r\n{\"seq\":1,\"command\":\"initialize\"}\
             Content-Length: 2\r\nContent-Type: x\r\n\r\n{}",
            "content-length:2\n\n[]\r\n\r\nContent-Length: 3\r\n\r\n{a}",
        ],
        words: &["Content-Length: ", "\r\n", "\r\n\r\n", ":", "{", "}", "[", "\"", "99999999999", "-1", "16777217"],
        start: || Ok(Box::new(fuzzing::editor_messages)),
    },
    Subject {
        name: "run-limits",
        examples: &["errors>1%", "exceptions>=10", "errors > 0"],
        words: &["errors", "exceptions", ">", ">=", "%", "inf", "nan"],
        start: || Ok(Box::new(|input| fuzzing::limits(&String::from_utf8_lossy(input)))),
    },
    Subject {
        name: "held-load",
        examples: &["rate=250/s,time=20s,ready=10,most=100", "users=40,time=1.5s"],
        words: &["rate=", "users=", "time=", "ready=", "most=", ",", "/s", "s", "inf", "nan", "-1", "1e308"],
        start: || Ok(Box::new(held_loads)),
    },
    Subject {
        name: "rate",
        examples: &["200/s", "90/m", "1.25/s", "7", "0/h"],
        words: &["/s", "/m", "/h", ".", "0", "999", "99999999999999999999", "-1", "1e3", " "],
        start: || Ok(Box::new(rates)),
    },
    Subject {
        name: "objective",
        examples: &["http_req_duration{name:page}: p(95)<200", "checks: rate==1", "http_reqs: rate>100", "t: avg<=5"],
        words: &["p(", "rate", "avg", "med", "max", "count", "value", "<", ">=", "==", ":", "{", "}", "inf", "1e308"],
        start: || Ok(Box::new(objectives)),
    },
    Subject {
        name: "output-settings",
        examples: &[
            "http://u:p@h:1/a%2Fb?precision=s&pushInterval=1s\nK6_INFLUXDB_RETENTION=rp\n\
             K6_INFLUXDB_TAGS_AS_FIELDS=vu:int",
            "http://h/api/v1/push,label.a=b,limit=5,level=info,pushPeriod=1s,header.X=y,allowedLabels=[a,b]",
            "http://h/w\nK6_PROMETHEUS_RW_TREND_STATS=p(95),min\nK6_PROMETHEUS_RW_HTTP_HEADERS=a:b\n\
             K6_OTEL_EXPORTER_PROTOCOL=http/protobuf\nK6_OTEL_HEADERS=a=b\nK6_OTEL_FLUSH_INTERVAL=1s",
            "otel=http://h:4318,proto=http,header.a=b",
            "none",
        ],
        words: &[
            "http://",
            "otel=",
            "proto=",
            "header.",
            "?",
            "&",
            "=",
            ",",
            "\n",
            "%",
            "K6_INFLUXDB_",
            "K6_OTEL_",
            "K6_PROMETHEUS_RW_",
            "[",
            "]",
            "1s",
        ],
        start: || Ok(Box::new(outputs::fuzzing::settings)),
    },
];

/// Files that a command line names are opened: those of the system, which may have no end, are left alone.
fn names_a_device(text: &str) -> bool {
    ["/dev", "/proc", "/sys"].iter().any(|folder| text.contains(folder))
}

/// What curl's commands become is a script that compiles.
fn curl() -> Result<Check, String> {
    let compiler = Rc::new(Compiler::new()?);
    Ok(Box::new(move |input| {
        let text = String::from_utf8_lossy(input);
        if names_a_device(&text) {
            return Ok(());
        }
        let style = Style { base_url: None, files: Some(String::from("script")) };
        let (script, _) = convert::write_script(fuzzing::curl_commands(&text).test, &style);
        compiler.compile(&script).map_err(|why| format!("{why} in {script}"))
    }))
}

/// The script of a quick run compiles, in curl's words and in those of other tools.
fn quick_run() -> Result<Check, String> {
    let compiler = Rc::new(Compiler::new()?);
    Ok(Box::new(move |input| {
        let text = String::from_utf8_lossy(input);
        if names_a_device(&text) {
            return Ok(());
        }
        let Ok(words) = shell::split(&text) else { return Ok(()) };
        for command in ["run", "curl"] {
            match fuzzing::quick_script(command, &words) {
                Err(why) if why.is_empty() => return Err(String::from("an error without a text")),
                Ok(Some(script)) => compiler.compile(&script).map_err(|why| format!("{command}: {why} in {script}"))?,
                _ => {}
            }
        }
        Ok(())
    }))
}

/// Archives made of lines `KIND NAME CONTENT`, with checksums that are right: nothing is written outside of the folder
/// of an archive, and the folder goes away.
fn archives() -> Result<Check, String> {
    let folder = corpus::folder().join("archives");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let path = folder.join(format!("{}.tar", std::process::id()));
    let outside: Vec<PathBuf> = [std::env::temp_dir(), PathBuf::from("/"), folder].map(|at| at.join("evil")).into();
    Ok(Box::new(move |input| {
        std::fs::write(&path, archive(input)).map_err(|error| error.to_string())?;
        let unpacked = fuzzing::unpack(&path);
        if let Some(written) = outside.iter().find(|path| path.exists()) {
            return Err(format!("{} is there", written.display()));
        }
        match unpacked {
            Ok(place) if place.exists() => Err(format!("{} was left behind", place.display())),
            Err(why) if why.is_empty() => Err(String::from("an error without a text")),
            _ => Ok(()),
        }
    }))
}

fn archive(input: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in input.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let mut parts = line.splitn(3, |byte| *byte == b' ');
        let mut part = || parts.next().unwrap_or_default();
        let (kind, name, content) = (part(), part(), part());
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::new(kind.first().copied().unwrap_or(b'0')));
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        let room = &mut header.as_old_mut().name;
        let length = name.len().min(room.len());
        room[..length].copy_from_slice(&name[..length]);
        // A link leads to the script, or where its content says.
        let target = if content.is_empty() { &b"data"[..] } else { content };
        let room = &mut header.as_old_mut().linkname;
        let length = target.len().min(room.len());
        room[..length].copy_from_slice(&target[..length]);
        header.set_cksum();
        bytes.extend(header.as_bytes());
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.extend([0; 1024]);
    bytes
}

/// A rate of `onrush scale`: what is read is finite, and an error says what was expected.
fn rates(input: &[u8]) -> Result<(), String> {
    match String::from_utf8_lossy(input).parse::<Rate>() {
        Ok(rate) if !rate.per_second().is_finite() => Err(format!("{rate:?} has no end")),
        Err(problem) if !problem.contains("expected") => Err(format!("an error without what was expected: {problem}")),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A load of `--hold`: what is read lasts for a time, and an error says what was expected.
fn held_loads(input: &[u8]) -> Result<(), String> {
    match Hold::read(&String::from_utf8_lossy(input)) {
        Ok(hold) if hold.time.is_zero() => Err(format!("{hold:?} takes no time")),
        Err(problem) if !problem.contains("expected") => Err(format!("an error without what was expected: {problem}")),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// An objective of `onrush capacity`: what is read is read again from how it is told.
fn objectives(input: &[u8]) -> Result<(), String> {
    let Ok(objective) = Objective::read(&String::from_utf8_lossy(input)) else { return Ok(()) };
    match Objective::read(&objective.text()) {
        Ok(again) if again == objective => Ok(()),
        other => Err(format!("{objective:?} is told as {:?}, which is read as {other:?}", objective.text())),
    }
}
