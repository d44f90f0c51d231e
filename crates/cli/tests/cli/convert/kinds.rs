//! What each format says in ways of its own, run against a server: managers and extractors of JMeter, styles of
//! OpenAPI, answers without a status in HAR, standard input of a shell, spaces in a log.

use super::{convert, sent};
use crate::capture::{Capture, arrived};
use crate::lab::Lab;

fn lines(sent: &[String]) -> Vec<&str> {
    sent.iter().map(|request| request.lines().next().unwrap_or_default()).collect()
}

#[test]
fn managers_and_extractors_of_jmeter() {
    let server = Capture::answering("{\"ok\":true,\"list\":[{\"id\":1},{\"id\":2}]}").expect("a server");
    let (host, port) = server.address.split_once(':').expect("an address");
    let text = include_str!("../../convert/managers.jmx").replace("HOST", host).replace("PORT", port);
    let lab = Lab::new();
    let said = convert(&lab, "plan.jmx", &text).code(0);
    let said = said.says("after an error of a sampler JMeter ends the thread; the script goes on");
    lab.file("script.js", &said.says("thread groups of setup() run one after the other").stdout);
    lab.run(&["-q", "--summary-export", "summary.json"]).code(0);
    let requests = arrived(&server);
    let expected = [
        "GET /setup",
        "GET /setup",
        "GET /setup-too",
        "GET /private/a",
        "GET /b/true/2/x2/2/true",
        "GET /each/x1",
        "GET /each/x2",
        "GET /teardown",
    ];
    assert_eq!(lines(&requests), expected);
    let with = |part: &str| (0..requests.len()).filter(|at| requests[*at].contains(part)).collect::<Vec<_>>();
    assert_eq!(with("authorization: Basic YW5uOnMzY3JldA==\n"), [3], "below its URL alone");
    assert_eq!(with("cookie: sid=s1\n"), [4], "below its path alone");
    let summary: serde_json::Value = serde_json::from_str(&lab.read("summary.json")).expect("JSON");
    let checks = &summary["metrics"]["checks"];
    assert_eq!((checks["passes"].as_u64(), checks["fails"].as_u64()), (Some(2), Some(1)), "{summary}");
}

#[test]
fn thread_groups_with_a_length_run_one_after_the_other() {
    let group = |name: &str, seconds: u32| {
        format!(
            "<ThreadGroup testname=\"{name}\"><boolProp name=\"ThreadGroup.scheduler\">true</boolProp><stringProp \
             name=\"ThreadGroup.duration\">{seconds}</stringProp><elementProp name=\"ThreadGroup.main_controller\">\
             <stringProp name=\"LoopController.loops\">-1</stringProp></elementProp></ThreadGroup><hashTree>\
             <HTTPSamplerProxy testname=\"a\"><boolProp name=\"HTTPSampler.use_keepalive\">false</boolProp>\
             </HTTPSamplerProxy><hashTree/></hashTree>"
        )
    };
    let serial = "<boolProp name=\"TestPlan.serialize_threadgroups\">true</boolProp>";
    let text = format!(
        "<jmeterTestPlan><hashTree><TestPlan>{serial}</TestPlan><hashTree>{}{}</hashTree></hashTree></jmeterTestPlan>",
        group("one", 20),
        group("two", 5)
    );
    let lab = Lab::new();
    let run = convert(&lab, "plan.jmx", &text).code(0).prints("startTime: '20s'").prints("noConnectionReuse: true");
    assert_eq!(run.stdout.matches("startTime").count(), 1, "{}", run.stdout);
    assert!(!run.stdout.contains("Connection:"), "{}", run.stdout);
}

#[test]
fn styles_and_parts_of_openapi() {
    let server = Capture::start().expect("a server");
    let parameter = |within: &str, rest: &str| format!("{{ name: v, in: {within}, required: true, {rest} }}");
    let object = "example: { R: 100, G: { a: 1 } }";
    let cases = [
        ("/p/{v}", parameter("path", "example: [\"a,b\", 4]"), "GET /p/a%2Cb,4"),
        ("/m/{v}", parameter("path", "style: matrix, explode: true, example: [3, 4]"), "GET /m/;v=3;v=4"),
        ("/l/{v}", parameter("path", "style: label, explode: true, example: [3, 4]"), "GET /l/.3.4"),
        ("/q", parameter("query", "explode: false, example: [3, 4]"), "GET /q?v=3,4"),
        ("/s", parameter("query", "style: spaceDelimited, explode: false, example: [3, 4]"), "GET /s?v=3%204"),
        ("/d", parameter("query", &format!("style: deepObject, {object}")), "GET /d?v[R]=100&v[G][a]=1"),
        ("/r", parameter("query", "allowReserved: true, example: a/b?c"), "GET /r?v=a/b?c"),
        (
            "/c",
            parameter("query", "content: { application/json: { example: { a: [1] } } }"),
            "GET /c?v=%7B%22a%22%3A%5B1%5D%7D",
        ),
        ("/h", parameter("header", "explode: true, example: { R: 1, G: 2 }"), "GET /h"),
        ("/k", parameter("cookie", "explode: false, example: [3, 4]"), "GET /k"),
    ];
    let path = |(path, parameter, _): &(&str, String, &str)| {
        format!("  {path}: {{ get: {{ parameters: [{parameter}], responses: {{ '200': {{ description: d }} }} }} }}\n")
    };
    let paths: String = cases.iter().map(path).collect();
    let head = format!(
        "openapi: 3.0.3\ninfo: {{ title: t, version: '1' }}\nservers: [{{ url: 'http://{}' }}]\n",
        server.address
    );
    let files = "files: { type: array, minItems: 2, items: { type: string, format: binary } }";
    let properties = format!("{{ {files}, meta: {{ type: object, properties: {{ a: {{ type: integer }} }} }} }}");
    let encoding = "encoding: { files: { contentType: image/png } }";
    let form = format!("{{ schema: {{ type: object, properties: {properties} }}, {encoding} }}");
    let form = format!(
        "  /f: {{ post: {{ requestBody: {{ content: {{ multipart/form-data: {form} }} }}, responses: {{}} }} }}\n"
    );
    let (script, requests) = sent("api.yaml", &format!("{head}paths:\n{paths}{form}"), &server);
    let expected: Vec<&str> = cases.iter().map(|(.., line)| *line).chain(["POST /f"]).collect();
    assert_eq!(lines(&requests), expected, "{script}");
    assert!(requests[8].contains("v: R=1,G=2\n") && requests[9].contains("cookie: v=3,4\n"), "{requests:#?}");
    for part in [
        "name=\\\"files\\\"; filename=\\\"files1.bin\\\"",
        "name=\\\"files\\\"; filename=\\\"files2.bin\\\"",
        "Content-Type: image/png",
        "| {\\\"a\\\":1}",
    ] {
        assert!(requests[10].contains(part), "{part} in {}", requests[10]);
    }
}

#[test]
fn answers_without_a_status_in_har() {
    let server = Capture::start().expect("a server");
    let entry = |target: &str, rest: &str| {
        format!(r#"{{"request":{{"method":"GET","url":"http://{}{target}"}},{rest}}}"#, server.address)
    };
    let entries = [
        entry("/head", r#""response":{"status":0,"headers":[{"name":"X","value":"y"}],"_error":"net::ERR_ABORTED"}"#),
        entry("/named", r#""response":{"status":0,"headers":[{"name":":status","value":"204"}]}"#),
        entry("/pushed", r#""response":{"status":200},"_was_pushed":1"#),
        entry("/none", r#""response":{"status":0,"headers":[]}"#),
        entry("/cached", r#""response":{"status":200},"_fromCache":"disk""#),
    ];
    let text = format!("{{\"log\":{{\"entries\":[{}]}}}}", entries.join(","));
    let (script, requests) = sent("odd.har", &text, &server);
    assert_eq!(lines(&requests), ["GET /head", "GET /named", "GET /pushed"]);
    assert!(script.contains("'status is 204'") && script.matches("status is").count() == 2, "{script}");
    convert(&Lab::new(), "odd.har", &text)
        .code(0)
        .says("entry 1: the recording has an error: net::ERR_ABORTED")
        .says("entry 3: the server pushed this answer; the script asks for it")
        .says("entry 4: no answer was recorded")
        .says("entry 5: an answer came from the browser's cache");
}

#[test]
fn standard_input_of_a_shell() {
    let server = Capture::start().expect("a server");
    let lab = Lab::new();
    lab.file("body.json", "{\"file\":1}\n");
    let text = "H=http://ADDRESS\n\
        curl $H/a --data-binary @- <<END\n{\"n\": $N, \"d\": \"\\$x\"}\nEND\n\
        curl $H/b --json @- < body.json\n\
        cat <<'END' | curl $H/c -d @-\nline $N\ntwo\nEND\n\
        curl $H/d -d \"$(cat <<END\n{\"q\": \"'\"}\nEND\n)\"\n\
        jq . x | curl $H/e -d @-\n\
        curl $H/f -r 600 --no-location\n";
    let run = convert(&lab, "a.sh", &text.replace("ADDRESS", &server.address)).code(0);
    let run = run.says("not converted: -d @-: standard input is what 'jq' prints, which is not known here");
    lab.file("script.js", &run.stdout);
    lab.run(&["-e", "N=5"]).code(0);
    let requests = arrived(&server);
    assert_eq!(lines(&requests), ["POST /a", "POST /b", "POST /c", "POST /d", "GET /f"]);
    for (at, body) in [
        (0, "| {\\\"n\\\": 5, \\\"d\\\": \\\"$x\\\"}\\n\n"),
        (1, "| {\\\"file\\\":1}\\n\n"),
        (2, "| line $Ntwo\n"),
        (3, "| {\\\"q\\\": \\\"\\'\\\"}\n"),
        (4, "range: bytes=600-\n"),
    ] {
        assert!(requests[at].contains(body), "{body} in {}", requests[at]);
    }
}

#[test]
fn targets_with_spaces_of_a_log() {
    let lab = Lab::new();
    let line = |request: &str| format!("h - - [10/Oct/2026:13:55:00 +0000] \"{request}\" 404 5 \"-\" \"A\"\n");
    lab.file("access.log", &(line("GET /sp ace?a=b c HTTP/1.1") + &line("GET /old")));
    lab.onrush(&["convert", "access.log", "-O", "r.js"]).code(0);
    assert_eq!(lab.read("r-requests.tsv"), "0.000000\tGET\t/sp%20ace?a=b%20c\tA\n0.500000\tGET\t/old\tA\n");
}
