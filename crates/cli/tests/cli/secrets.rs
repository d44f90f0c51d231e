//! Passwords in URLs and parameters that look like credentials reach the server and nothing else: no result, report,
//! summary, export or line of Onrush's own shows them.

use crate::lab::Lab;

const SCRIPT: &str = r#"
import http from 'k6/http'
import ws from 'k6/ws'
import { check } from 'k6'
const SECRET = ['s3c', 'r3t'].join('')
const open = `${__ENV.TARGET}/anything?a=1&access_token=${SECRET}`
const login = `http://user:${SECRET}@`
export const options = {
  thresholds: { [`http_reqs{url:${open}}`]: ['count==1'], [`http_reqs{name:${login}127.0.0.1:1/}`]: ['count==1'] },
  scenarios: { only: { executor: 'per-vu-iterations', vus: 1, iterations: 1, env: { API_TOKEN: SECRET } } },
}
export default function () {
  check(http.get(open), { 'the server gets it': (r) => r.body.includes(SECRET) })
  check(http.get(`${__ENV.TARGET}/redirect-to?url=${encodeURIComponent(`/anything?sig=${SECRET}`)}`), {
    'so it does after a redirect': (r) => r.body.includes(SECRET) && r.url.includes(SECRET),
  })
  http.get(`${login}127.0.0.1:1/`)
  http.get(`${login}127.0.0.1:1/?password=${SECRET}`)
  http.get(`${login}127.0.0.1:99999/?sig=${SECRET}`)
  http.get(`${login}127.0.0.1:port/?sig=${SECRET}`)
  http.get(http.url`http://127.0.0.1:1/${1}?sig=s3cr3t`)
  ws.connect(`ws://user:${SECRET}@127.0.0.1:1/`, {}, () => {})
  ws.connect(`ws://127.0.0.1:1/?token=${SECRET}`, {}, () => {})
  try { http.cookieJar().set(`${login}127.0.0.1:port/?sig=${SECRET}`, 'a', 'b') } catch (e) { console.error(e.message) }
}
export function handleSummary(data) {
  return { stdout: JSON.stringify(data), 'summary.json': JSON.stringify(data) }
}
"#;

#[test]
fn secrets_of_urls_are_shown_nowhere() {
    let lab = Lab::with(SCRIPT);
    let arguments = ["--serve", "--save", "r", "--summary-export", "export.json"];
    let run = lab.onrush(&[&["run"], &arguments[..], &["script.js"]].concat()).code(0);
    assert!(!run.stderr.contains("thresholds on metrics"), "a filter names the URL as the script does: {}", run.stderr);
    let page = lab.onrush(&["report", "r", "-o", "-"]).code(0).stdout;
    let result = lab.read("r/result.json");
    let places = [
        ("stdout", &run.stdout),
        ("stderr", &run.stderr),
        ("export", &lab.read("export.json")),
        ("handleSummary", &lab.read("summary.json")),
        ("result", &result),
        ("report", &page),
    ];
    for (place, text) in places {
        assert!(!text.contains("s3cr3t"), "{place}: {text}");
    }
    assert!(
        result.contains("/anything?a=1&access_token=****") && result.contains("http://****:****@127.0.0.1:1/"),
        "{result}"
    );
    assert!(result.contains(r#""API_TOKEN":"****""#), "{result}");
    for line in [
        r#"Get \"http://user:***@127.0.0.1:1/?password=****\": dial tcp 127.0.0.1:1: connect: connection refused"#,
        r#"Get \"http://****:****@127.0.0.1:99999/?sig=****\": dial tcp: address 99999: invalid port"#,
        r#"invalid URL: parse \"http://****:****@127.0.0.1:port/?sig=****\": invalid port \":port\" after host"#,
        "has the options, figures, names of checks and groups, and facts about this machine; passwords, parameters",
    ] {
        assert!(run.stderr.contains(line), "{line}\n{}", run.stderr);
    }
}

#[test]
fn which_parameters_are_masked_is_an_option() {
    let script = "import http from 'k6/http';
        export default function () { http.get('http://u:p@127.0.0.1:1/?token=abc&visitor-pin=123'); }";
    let shown = |arguments: &[&str]| Lab::with(script).run(arguments).code(0).stderr;
    assert!(shown(&[]).contains("?token=****&visitor-pin=123"));
    assert!(shown(&["--mask-params", "pin"]).contains("?token=abc&visitor-pin=****"));
    let none = Lab::with(&format!("export const options = {{ maskParams: [] }};{script}")).run(&[]).code(0).stderr;
    assert!(none.contains("http://u:***@127.0.0.1:1/?token=abc&visitor-pin=123"), "{none}");
}

#[test]
fn what_a_script_prints_is_its_own() {
    let lab = Lab::with("console.log('http://u:p@h/?token=abc'); export default function () {}");
    lab.run(&[]).code(0).says("http://u:p@h/?token=abc");
}

#[test]
fn an_address_on_the_command_line_is_masked_where_it_is_repeated() {
    let lab = Lab::new();
    let run = lab.onrush(&["run", "-n", "1", "--save", "r", "http://u:s3cr3t@127.0.0.1:1/?token=s3cr3t"]);
    assert!(!run.stdout.contains("s3cr3t") && !run.stderr.contains("s3cr3t"), "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("script: http://****:****@127.0.0.1:1/?token=****"), "{}", run.stdout);
    assert!(!lab.read("r/result.json").contains("s3cr3t"));
    let refused = lab.onrush(&["run", "-n", "1", "ftp://u:s3cr3t@127.0.0.1/?token=s3cr3t"]);
    assert!(!refused.stderr.contains("s3cr3t") && refused.stderr.contains("****"), "{}", refused.stderr);
}
