//! Servers of a matrix: sockets without a file, statistics of their own.

use serde_json::Value;

use crate::lab::Lab;

fn result(lab: &Lab) -> Value {
    serde_json::from_str(&lab.read("plan.matrix.json")).expect("JSON")
}

fn first_run(lab: &Lab) -> Value {
    result(lab)["runs"][0].clone()
}

#[test]
fn sockets_with_and_without_a_file_are_an_axis() {
    let lab = Lab::new();
    lab.file(
        "plan.toml",
        "rounds = 1\nwarm_up = '0s'\n[axes]\nover = [{ name = 'tcp', base = '{base}', socket = '' },\
         { name = 'unix', base = 'http://unix.test', socket = '{unix}' },\
         { name = 'aunix', base = 'http://unix.test', socket = '{aunix}' }]\n\
         [load]\nurl = '{over.base}/bytes/10'\nunix = '{over.socket}'\nconnections = 2\nrequests = 50\n\
         [[variants]]\nname = 'target'\nserve = {}\n",
    );
    let run = lab.onrush(&["matrix", "plan.toml"]).code(0);
    assert_eq!(run.stderr.matches(" http_reqs/s").count(), 3, "{}", run.stderr);
    let result = result(&lab);
    let runs = result["runs"].as_array().expect("a list");
    let of = |over: &str| runs.iter().find(|run| run["axes"]["over"] == over).expect("made");
    assert_eq!(of("aunix")["result"]["options"]["hosts"]["unix.socket"], "unix:{aunix}", "not the name of one run");
    assert_eq!(of("unix")["result"]["options"]["hosts"]["unix.socket"], "unix:{unix}");
}

#[test]
fn a_socket_without_a_file_is_reached_from_scripts_and_by_url() {
    let name = format!("onrush-reached-{}", std::process::id());
    let script = format!(
        "import http from 'k6/http'; import {{ check }} from 'k6';\n\
         export const options = {{ iterations: 3, hosts: {{ 'app.test': 'unix:@{name}' }} }};\n\
         export default () => check(http.get('http://app.test/ip'), {{ fine: (r) => r.status === 200 }});\n"
    );
    let lab = Lab::with(&script);
    let plan = format!(
        "rounds = 1\nwarm_up = '0s'\n[server]\ncommand = '{{onrush}} serve --listen unix:@{name} --listen \
         127.0.0.1:{{port}}'\n\
         [load]\nfigures = ['(?<rate>3)']\nduration = '1s'\n\
         [[variants]]\nname = 'script'\nload = {{ command = '{{onrush}} run -q script.js && echo 3' }}\n\
         [[variants]]\nname = 'curl'\n\
         load = {{ command = '{{onrush}} run -n 3 --abstract-unix-socket {name} http://any.test/get && echo 3' }}\n"
    );
    lab.file("plan.toml", &plan);
    let run = lab.onrush(&["matrix", "plan.toml"]).code(0);
    assert_eq!(run.stderr.matches(": 3.0 http_reqs/s").count(), 2, "{}", run.stderr);
    lab.run(&[]).code(0).prints("checks_failed......: 100.00%");
}

const COUNTED: &str = "rounds = 2\nwarm_up = '0s'\n[server]\nserve = {}\n\
                       [load]\nurl = '{base}/bytes/10'\nconnections = 2\nrequests = 300\n[[variants]]\nname = 'v'\n";

#[test]
fn what_a_server_counts_stands_beside_the_run() {
    let lab = Lab::new();
    lab.file("plan.toml", &(COUNTED.to_owned() + "stats = { url = '{base}/stats', names = ['request'] }\n"));
    let run = lab.onrush(&["matrix", "plan.toml"]).code(0).says("\n    requests +300").prints("server statistics");
    assert!(
        run.stdout.lines().any(|line| line.starts_with("v ") && line.trim_end().ends_with("300")),
        "{}",
        run.stdout
    );
    let stats = first_run(&lab)["server_stats"].clone();
    let requests = |when: &str| stats[when]["requests"].as_f64().expect("a number");
    assert_eq!((requests("before"), requests("after")), (0.0, 300.0), "{stats}");
    let csv = lab.onrush(&["table", "plan.matrix.json", "--format", "csv"]).code(0).stdout;
    assert!(csv.lines().next().is_some_and(|head| head.contains(",server: requests")), "{csv}");
}

#[test]
fn a_command_may_print_statistics() {
    let lab = Lab::new();
    let text = "stats = { command = 'echo x >> {folder}/asked; echo \"# TYPE open gauge\"; echo \"open 7\"; \
                echo \"calls $(wc -l < asked)\"' }\n";
    lab.file("plan.toml", &(COUNTED.to_owned() + text));
    lab.onrush(&["matrix", "plan.toml"]).code(0).says("\n    calls +1");
    assert_eq!(lab.read("asked").lines().count(), 4, "before and after each of two runs");
    let stats = first_run(&lab)["server_stats"].clone();
    assert_eq!((&stats["gauges"], &stats["after"]["open"]), (&serde_json::json!(["open"]), &serde_json::json!(7.0)));
}

#[test]
fn statistics_that_cannot_be_read_are_told_and_the_run_counts() {
    let lab = Lab::new();
    for (stats, problem) in [
        ("url = '{base}/status/503'", "/status/503: it answered with status 503, expected 200"),
        ("url = 'http://127.0.0.1:{stats_port}/'", "Connection refused"),
        ("url = '{base}/html'", "found no number in '<!"),
        ("command = 'echo no such server; exit 4'", "failed with exit code 4\nno such server"),
    ] {
        lab.file("plan.toml", &format!("{COUNTED}stats = {{ {stats} }}\n"));
        let run = lab.onrush(&["matrix", "--force", "plan.toml"]).code(0);
        assert!(run.stderr.contains("server statistics could not be read before the run: "), "{}", run.stderr);
        assert!(run.stderr.contains(problem), "{problem} in {}", run.stderr);
        assert!(run.stdout.contains("! in 2 of 2 runs server statistics could not be read"), "{}", run.stdout);
        assert_eq!(first_run(&lab)["outcome"], "ok");
    }
    for (stats, problem) in [
        ("url = 'https://h/'", "stats: found the url 'https://h/', expected one that begins with http://"),
        ("names = ['a']", "variant 'v': stats: expected either a url or a command"),
        ("url = 'http://h/', names = ['(']", "variant 'v': stats: names: '(' is not a regular expression"),
        ("ur = 'http://h/'", "unknown field `ur`, expected one of `url`, `command`, `names`"),
    ] {
        lab.file("plan.toml", &format!("{COUNTED}stats = {{ {stats} }}\n"));
        lab.onrush(&["matrix", "--force", "plan.toml"]).code(104).says(problem);
    }
}
