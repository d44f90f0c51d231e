//! Files that other people published, from packages of npm and PyPI (tests/convert/public/ORIGINS.md names them with
//! their licences): each is converted, and its script run, or it is refused with a reason. What comes of each file is
//! kept in outcomes.txt beside them; for recordings and collections, a second and simpler reader here says which
//! requests must arrive.
//!
//! Nothing leaves this machine: a script's requests go to a proxy that keeps and answers them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::offline;
use crate::capture::{Capture, arrived};
use crate::lab::Lab;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert/public")
}

/// The files of a package, by name.
fn files(package: &str) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder().join(package)).expect("the folder of a package");
    let paths = entries.map(|entry| entry.expect("an entry").path()).filter(|path| !is_licence(path));
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        (format!("{package}/{name}"), std::fs::read_to_string(&path).expect("text"))
    };
    let mut files: Vec<_> = paths.map(read).collect();
    files.sort();
    files
}

fn is_licence(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("LICENSE"))
}

/// What became of a file.
struct Outcome {
    /// A line for what is kept.
    line: String,
    /// What arrived; none of a file that is refused.
    arrived: Option<Vec<String>>,
}

/// Converts a file and runs its script, or says what went wrong.
fn outcome(name: &str, text: &str) -> Result<Outcome, String> {
    let lab = Lab::new();
    let file = name.rsplit('/').next().expect("a name");
    lab.file(file, text);
    let run = lab.onrush(&["convert", file, "--json", "-O", "script.js", "--no-timing"]);
    if run.code != 0 {
        let said = run.stderr.lines().find_map(|line| line.strip_prefix("error: "));
        let said = said.filter(|_| run.code == 255 && run.stdout.is_empty()).ok_or_else(|| format!("{run:?}"))?;
        return Ok(Outcome { line: format!("{name}: refused: {said}"), arrived: None });
    }
    let told: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let proxy = Capture::answering("{}").expect("a proxy");
    let script = offline::prepare(&lab.read("script.js"), lab.path()).expect("files");
    lab.file("script.js", &script);
    let mut command = lab.command(&["run", "-q", "script.js"]);
    offline::aim(&mut command, &script, &proxy.address);
    let ran = crate::lab::finish(command);
    if ran.code != 0 || ran.stderr.contains("rror") {
        return Err(format!("{}\n{script}", ran.stderr));
    }
    let arrived = arrived(&proxy);
    let notes = told["notes"].as_array().map_or(0, Vec::len);
    let line = format!("{name}: {} requests, {} arrived, {notes} notes", told["requests"], arrived.len());
    Ok(Outcome { line, arrived: Some(arrived) })
}

/// Holds the outcomes of a package's files against those that are kept.
fn as_kept(package: &str, extra: impl Fn(&str, &str, &[String])) {
    let path = folder().join(format!("../outcomes/{package}.txt"));
    let (mut found, mut wrong) = (String::new(), Vec::new());
    for (name, text) in files(package) {
        match outcome(&name, &text) {
            Ok(outcome) => {
                outcome.arrived.iter().for_each(|arrived| extra(&name, &text, arrived));
                found.push_str(&format!("{}\n", outcome.line));
            }
            Err(why) => wrong.push(format!("{name}: {why}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, &found).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == kept, "expected\n{kept}\nfound\n{found}\nONRUSH_BLESS=1 keeps what was found");
}

/// `GET http://h/x`, as the requests of a file are compared.
fn shown(method: &str, url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let bare = url.split_once("://").map_or(url, |(_, bare)| bare);
    let at = bare.find(['/', '?']).unwrap_or(bare.len());
    let (host, rest) = bare.split_at(at);
    let slash = if rest.starts_with('/') { "" } else { "/" };
    format!("{method} http://{host}{slash}{rest}")
}

fn first_lines(arrived: &[String]) -> Vec<String> {
    arrived.iter().map(|request| request.lines().next().unwrap_or_default().to_owned()).collect()
}

/// The entries of a recording that have an answer: those without are left out, with a note.
fn entries_of_har(text: &str) -> Vec<Value> {
    let log: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).expect("JSON");
    let entries = log["log"]["entries"].as_array().expect("entries");
    entries.iter().filter(|entry| entry["response"]["status"].as_u64() != Some(0)).cloned().collect()
}

fn requests_of_har(text: &str) -> Vec<String> {
    let request = |entry: &Value| {
        let request = &entry["request"];
        let mut url = request["url"].as_str().expect("a URL").to_owned();
        // These have no character that a URL encodes, but where they are encoded.
        let query = request["queryString"].as_array().filter(|_| !url.contains('?')).cloned().unwrap_or_default();
        for (at, pair) in query.iter().enumerate() {
            let [name, value] = ["name", "value"].map(|field| pair[field].as_str().unwrap_or_default());
            url.push_str(&format!("{}{name}={value}", if at == 0 { '?' } else { '&' }));
        }
        shown(request["method"].as_str().expect("a method"), &url)
    };
    entries_of_har(text).iter().map(request).collect()
}

/// First lines and bodies must be those of the recording's entries.
fn of_har(name: &str, text: &str, arrived: &[String]) {
    assert_eq!(first_lines(arrived), requests_of_har(text), "{name}");
    for (entry, request) in entries_of_har(text).iter().zip(arrived) {
        let data = &entry["request"]["postData"];
        let body = data["text"].as_str().filter(|_| data["encoding"].is_null() && data["params"].is_null());
        let shown = body.unwrap_or_default().replace("https://", "http://");
        let lines = shown.split_inclusive('\n').map(|line| format!("| {}\n", line.as_bytes().escape_ascii()));
        let lines: String = lines.collect();
        assert!(request.contains(&lines), "{name}: expected the body\n{lines}in\n{request}");
    }
}

#[test]
fn recordings_of_har_examples() {
    as_kept("har-examples", of_har);
}

#[test]
fn recordings_of_har2locust() {
    as_kept("har2locust", of_har);
}

#[test]
fn descriptions_of_oas_examples() {
    as_kept("oas-examples", of_openapi);
}

/// As many requests as there are operations, each with its method.
fn of_openapi(name: &str, text: &str, arrived: &[String]) {
    let Ok(description) = serde_json::from_str::<Value>(text) else { return };
    let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
    let mut expected: BTreeMap<String, usize> = BTreeMap::new();
    for path in description["paths"].as_object().into_iter().flat_map(|paths| paths.values()) {
        for method in path.as_object().into_iter().flat_map(|path| path.keys()) {
            if methods.contains(&method.as_str()) {
                *expected.entry(method.to_uppercase()).or_default() += 1;
            }
        }
    }
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for request in arrived {
        *found.entry(request.split(' ').next().unwrap_or_default().to_owned()).or_default() += 1;
    }
    assert_eq!(found, expected, "{name}");
}

/// Methods in the order of the collection, as deep as it goes.
fn of_postman(name: &str, text: &str, arrived: &[String]) {
    fn gather(items: &Value, methods: &mut Vec<String>) {
        for item in items.as_array().into_iter().flatten() {
            gather(&item["item"], methods);
            if !item["request"].is_null() {
                methods.push(item["request"]["method"].as_str().unwrap_or("GET").to_owned());
            }
        }
    }
    let collection: Value = serde_json::from_str(text).expect("JSON");
    let mut expected = Vec::new();
    gather(&collection["item"], &mut expected);
    let found: Vec<&str> = arrived.iter().map(|request| request.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn collections_of_python_postman() {
    as_kept("python-postman", of_postman);
}

#[test]
fn collections_of_postman_to_openapi() {
    as_kept("postman-to-openapi", of_postman);
}

#[test]
fn collections_of_postman_code_generators() {
    as_kept("postman-code-generators", of_postman);
}

/// The plans were made of recordings by that tool, so they send what those have. Of its own recording it left a style
/// sheet out, and it takes identifiers from answers, which are others here.
fn of_perfsage(name: &str, text: &str, arrived: &[String]) {
    match name.rsplit_once('.').expect("an end") {
        (_, "har") => of_har(name, text, arrived),
        (stem, "jmx") if !stem.ends_with("/login_flow") => {
            let stem = stem.rsplit('/').next().expect("a name");
            let recordings = ["har-examples", "har2locust"];
            let paths = recordings.map(|package| folder().join(package).join(format!("{stem}.har")));
            let text = paths.iter().find_map(|path| std::fs::read_to_string(path).ok()).expect("its recording");
            // Its query is `queryString`, which contradicts the URL in one of them.
            let without_query = |lines: Vec<String>| {
                lines.iter().map(|line| line.split('?').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(without_query(first_lines(arrived)), without_query(requests_of_har(&text)), "{name}");
        }
        (_, "json") if text.contains("collection/v2") => of_postman(name, text, arrived),
        (_, "json") => of_openapi(name, text, arrived),
        _ => assert_eq!(arrived.len(), 4, "{name}"),
    }
}

#[test]
fn files_of_perfsage_jmeter_mcp() {
    as_kept("perfsage-jmeter-mcp", of_perfsage);
}

#[test]
fn every_origin_is_named() {
    let origins = std::fs::read_to_string(folder().join("ORIGINS.md")).expect("ORIGINS.md");
    for entry in std::fs::read_dir(folder()).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            assert!(origins.contains(&format!("| {name} |")), "ORIGINS.md does not name {name}");
            assert!(path.join("LICENSE").exists(), "{name} has no LICENSE");
        }
    }
}
