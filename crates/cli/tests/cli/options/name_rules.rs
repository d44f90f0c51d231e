//! `--name-rule` and `nameRules`: which requests get which name, and what is said of rules that are wrong or idle.
//!
//! Names are read from the samples that `--out json` writes.

use serde_json::Value;

use crate::lab::Lab;

const SCRIPT: &str = r#"
import http from 'k6/http'
import ws from 'k6/ws'
export const options = __ENV.OWN ? {
  nameRules: [['/bytes/[0-9]+', 'bytes'], ['/status/.*', 'status']],
  thresholds: { 'http_req_duration{name:bytes}': ['max>=0'] },
} : {}
export default function () {
  const at = __ENV.TARGET
  http.get(`${at}/bytes/1`)
  http.get(`${at}/bytes/22?x=/status/200`)
  http.get(`${at}/bytes/3`, { tags: { name: 'own' } })
  http.get(http.url`${at}/bytes/${4}`)
  http.get(`${at}/status/404`)
  http.batch([`${at}/bytes/5`])
  http.get(`${at}/`)
  const socket = `${at.replace('http', 'ws')}/ws/echo`
  if (__ENV.SOCKET) ws.connect(socket, (open) => open.on('open', () => open.close()))
}
"#;

/// The names that samples of a metric have, with the target left out, sorted.
fn names(lab: &Lab, metric: &str) -> Vec<String> {
    let text = lab.read("out.json");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}")));
    let points = lines.filter(|line| line["type"] == "Point" && line["metric"] == metric);
    let mut names: Vec<String> = points
        .map(|point| {
            let tag = |name: &str| point["data"]["tags"][name].as_str().unwrap_or_default().to_owned();
            if metric == "http_reqs" {
                assert_eq!(tag("url"), tag("name"), "{point}");
            }
            let name = tag("name");
            match name.find("127.0.0.1:") {
                Some(at) => name[at..].find('/').map_or_else(String::new, |slash| name[at + slash..].to_owned()),
                None => name,
            }
        })
        .collect();
    names.sort();
    names
}

const NAMED: [&str; 7] = ["${}/bytes/${}", "/", "bytes", "bytes", "bytes", "own", "status"];

#[test]
fn the_first_rule_that_matches_the_path_names_a_request_unless_the_script_does() {
    let lab = Lab::with(SCRIPT);
    let out = ["--serve", "--out", "json=out.json"];
    let rules = ["--name-rule", "/bytes/[0-9]+ → bytes", "--name-rule=/status/[0-9]{1,3} -> status", "--name-rule"];
    let all = [&out[..], &rules, &["/by.* => other"]].concat();
    let run = lab.run(&all).code(0);
    assert_eq!(names(&lab, "http_reqs"), NAMED);
    assert_eq!(names(&lab, "http_req_duration"), NAMED);
    let idle = "the name rule '/by.* → other' named nothing: no path matched it that no rule before it took";
    assert_eq!(run.stderr.matches("named nothing").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains(idle), "{}", run.stderr);

    let run = lab.run(&[&out[..], &["-e", "OWN=1"]].concat()).code(0);
    assert_eq!(names(&lab, "http_reqs"), NAMED);
    assert!(!run.stderr.contains("named nothing") && run.stdout.contains("{name:bytes}"), "{run:?}");
    lab.run(&[&out[..], &["-e", "OWN=1", "--name-rule", "/ → root"]].concat()).code(0);
    assert!(names(&lab, "http_reqs").contains(&String::from("root")), "{:?}", names(&lab, "http_reqs"));
    assert!(!names(&lab, "http_reqs").contains(&String::from("status")), "the flag replaces the script's rules");
    lab.run(&out).code(0);
    assert_eq!(names(&lab, "http_reqs").iter().filter(|name| name.starts_with("/bytes/")).count(), 3);
}

#[test]
fn a_websocket_has_a_name_by_rule_too() {
    let lab = Lab::with(SCRIPT);
    lab.run(&["--serve", "--out", "json=out.json", "-e", "SOCKET=1", "--name-rule", "/ws/.+ → socket"]).code(0);
    assert_eq!(names(&lab, "ws_sessions"), ["socket"]);
}

#[test]
fn a_pattern_that_is_wrong_is_shown_with_a_caret() {
    let lab = Lab::with("export default function () {}");
    let run = lab.run(&["--name-rule", "/a(b → x"]);
    let caret = "\n  /a(b\n    ^";
    assert!(run.code != 0 && run.stderr.contains("at character 3") && run.stderr.contains(caret), "{run:?}");
    let run = lab.run(&["--name-rule", "/a"]);
    assert!(run.code != 0 && run.stderr.contains("found \"/a\", expected a pattern and a name, as in"), "{run:?}");
    let lab = Lab::with("export const options = { nameRules: { '/a': 'b' } }; export default function () {}");
    let run = lab.run(&[]);
    assert!(run.code != 0 && run.stderr.contains("'nameRules': found {\"/a\":\"b\"}, expected"), "{run:?}");
}
