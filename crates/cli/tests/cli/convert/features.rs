//! What each format has beside plain requests: pages, variables, scenarios, scripts, times. Each is run, and what
//! arrives is compared.

use super::{convert, sent};
use crate::capture::{Capture, arrived};
use crate::lab::Lab;

/// First lines of the requests.
fn lines(sent: &[String]) -> Vec<&str> {
    sent.iter().map(|request| request.lines().next().unwrap_or_default()).collect()
}

#[test]
fn pages_cookies_and_correlations_of_har() {
    let server = Capture::start().expect("a server");
    let entry = |time: &str, page: &str, target: &str, request: &str, answer: &str| {
        format!(
            r#"{{"pageref":"{page}","startedDateTime":"2026-01-01T00:00:{time}Z","time":100,"request":{{"method":"GET",
            "url":"http://{}{target}"{request}}},"response":{{"status":200{answer}}}}}"#,
            server.address
        )
    };
    let entries = [
        entry(
            "00.000",
            "p1",
            "/login",
            "",
            r#","headers":[{"name":"Set-Cookie","value":"sid=1"}],"content":{"text":
            "{\"token\":\"abcdefgh12345\"}"}"#,
        ),
        entry("03.000", "p2", "/me?t=abcdefgh12345", r#","headers":[{"name":"Cookie","value":"sid=1; lang=en"}]"#, ""),
        entry("03.200", "p2", "/logo.png", "", r#","content":{"mimeType":"image/png"}"#),
        entry("03.200", "p2", "/bytes", r#","postData":{"mimeType":"x/y","text":"AP8=","encoding":"base64"}"#, ""),
        entry(
            "03.300",
            "p2",
            "/upload",
            r#","postData":{"mimeType":"multipart/form-data","params":[{"name":"a",
            "value":"b"},{"name":"f","fileName":"C:\\x\\text.txt","contentType":"text/plain"}]}"#,
            "",
        ),
    ];
    let pages = r#"{"id":"p1","title":"Home"},{"id":"p2","title":"a::b"}"#;
    let text = format!("{{\"log\":{{\"entries\":[{}],\"pages\":[{pages}]}}}}", entries.join(","));
    let (script, requests) = sent("pages.har", &text, &server);
    let expected = ["GET /login", "GET /me?t=abcdefgh12345", "GET /logo.png", "GET /bytes", "GET /upload"];
    assert_eq!(lines(&requests), expected);
    assert!(requests[1].contains("cookie: lang=en\n"), "{}", requests[1]);
    assert!(requests[3].contains("| \\x00\\xff"), "{}", requests[3]);
    assert!(requests[4].contains("filename=\\\"text.txt\\\"") || requests[4].contains("text.txt"), "{}", requests[4]);
    for part in [
        "group('Home', () => {",
        "group('a:b', () => {",
        "// 'abcdefgh12345' came with the answer to GET /login (request 1): response.json('token')",
        "check(response, { 'status is 200': (r) => r.status === 200 });",
    ] {
        assert!(script.contains(part), "{part} in\n{script}");
    }
    let lab = Lab::new();
    convert(&lab, "p.har", &text).code(0).prints("sleep(2.9);").says("the file text.txt is not in the recording");
    let run = lab.onrush(&["convert", "p.har", "--skip-static"]).code(0).says("(--skip-static)");
    assert!(!run.stdout.contains("logo.png"));
    lab.onrush(&["convert", "p.har", "--only", "other.test"])
        .code(255)
        .says("requests to 127.0.0.1 are left out (--only) (5 times)");
}

#[test]
fn variables_auth_and_scripts_of_postman() {
    let server = Capture::start().expect("a server");
    let text = r#"{"info":{"name":"shop"},"variable":[{"key":"base-url","value":"http://ADDRESS"},
      {"key":"id","value":"7"}],
      "auth":{"type":"bearer","bearer":[{"key":"token","value":"{{token}}"}]},
      "event":[{"listen":"prerequest","script":{"exec":["pm.sendRequest('x');"]}}],
      "item":[{"name":"items","item":[
        {"name":"login","event":[{"listen":"test","script":{"exec":[
            "pm.test(\"Status code is 200\", function () {","    pm.response.to.have.status(200);","});",
            "const jsonData = pm.response.json();","pm.environment.set(\"token\", jsonData.access.token);",
            "console.log('own');"]}}],
         "request":{"method":"POST","auth":{"type":"basic","basic":{"username":"me","password":"{{id}}"}},
            "url":{"raw":"{{base-url}}/login/:item?q={{id}}&off=1","variable":[{"key":"item","value":"a"}],
                "query":[{"key":"off","value":"1","disabled":true}]},
            "body":{"mode":"urlencoded","urlencoded":[{"key":"a b","value":"{{id}}"},
                {"key":"x","value":"y","disabled":true}]}}},
        {"name":"query","request":{"method":"POST","url":"{{base-url}}/graphql",
            "body":{"mode":"graphql","graphql":{"query":"{ a }","variables":"{\"n\": 1}"}}}},
        {"name":"form","request":{"method":"POST","auth":{"type":"noauth"},"url":"{{base-url}}/form",
            "body":{"mode":"formdata","formdata":[{"key":"k","value":"v","type":"text"},
                {"key":"f","type":"file","src":"text.txt"}]}}},
        {"name":"key","request":{"auth":{"type":"apikey","apikey":[{"key":"key","value":"X-Key"},
            {"key":"value","value":"{{id}}"}]},
            "method":"GET","url":"{{base-url}}/key?at={{$timestamp}}"}}]}]}"#;
    let (script, requests) = sent("shop.json", &text.replace("ADDRESS", &server.address), &server);
    assert_eq!(lines(&requests)[..3], ["POST /login/a?q=7", "POST /graphql", "POST /form"]);
    assert!(
        requests[0].contains("authorization: Basic bWU6Nw==\n") && requests[0].contains("| a%20b=7\n"),
        "{}",
        requests[0]
    );
    assert!(requests[1].contains(r#"| {\"query\":\"{ a }\",\"variables\":{\"n\":1}}"#), "{}", requests[1]);
    assert!(requests[2].contains("name=\\\"f\\\"") && !requests[2].contains("authorization"), "{}", requests[2]);
    assert!(requests[3].contains("x-key: 7\n"), "{}", requests[3]);
    for part in [
        "// shop\n",
        "const baseUrl = __ENV['base-url'] || 'http://127.0.0.1:",
        "let token = __ENV.token || '';",
        "check(response, { 'Status code is 200': (r) => r.status === 200 });",
        "token = response.json('access.token');",
        "// test script of Postman:\n    //   console.log('own');",
        "// pre-request script of Postman:\n    //   pm.sendRequest('x');",
        "group('items', () => {",
    ] {
        assert!(script.contains(part), "{part} in\n{script}");
    }
    let lab = Lab::new();
    lab.file("shop.json", text);
    lab.onrush(&["convert", "shop.json", "--base-url", "http://x"]).code(0).says("--base-url changes nothing");
    convert(&lab, "shop.json", text)
        .says("login, query, form, key: a pre-request script is kept as a comment: write it for k6 (4 times)")
        .says("login: a test script is kept as a comment");
}

#[test]
fn threads_variables_and_controllers_of_jmeter() {
    let server = Capture::start().expect("a server");
    let (host, port) = server.address.split_once(':').expect("an address");
    let text = include_str!("../../convert/plan.jmx").replace("HOST", host).replace("PORT", port);
    let lab = Lab::new();
    lab.file("users.csv", "name,city\nAda,London\nAlan,Wilmslow\n");
    let said = convert(&lab, "plan.jmx", &text).code(0);
    let script = &said.stdout;
    for part in [
        "visitors: {\n      executor: 'per-vu-iterations',\n      vus: 1,\n      iterations: 2,",
        "executor: 'ramping-vus',",
        "const path = __ENV.path || '/items';",
        "export function visitors() {\n  let response;\n\n  const row = rows[",
        "sleep(0.01);",
        "for (let i = 0; i < 2; i++) {",
        "if (__ITER === 0) {",
        "found: (r) => r.status === 200",
        "text: (r) => r.body.includes('x') || r.body.includes('y')",
        "token = response.json('data.token');",
        "// JSR223Sampler 'own' of the plan has no counterpart here\n  //   vars.put('a', 'b')",
    ] {
        assert!(script.contains(part), "{part} in\n{script}");
    }
    let said = said.says("a JSR223Sampler has no counterpart").says("a HTTPSamplerProxy is switched off");
    lab.file("script.js", &said.stdout);
    let ran = lab.onrush(&["run", "-q", "script.js"]).code(0);
    let requests = arrived(&server);
    let seen = lines(&requests);
    let first: Vec<&str> = seen.iter().copied().filter(|line| !line.contains("/later")).collect();
    let expected = [
        "GET /once",
        "GET /items?name=Ada&city=London",
        "POST /form",
        "POST /form",
        "GET /items?name=Alan&city=Wilmslow",
        "POST /form",
        "POST /form",
    ];
    assert_eq!(first, expected, "{ran:?}");
    assert!(seen.contains(&"GET /later"), "{seen:?}");
    let form = requests.iter().find(|request| request.starts_with("POST")).expect("a form");
    assert!(form.contains("| a=x+y&b=1%262\n") && form.contains("x-all: yes\n"), "{form}");
}

#[test]
fn operations_of_openapi() {
    let server = Capture::start().expect("a server");
    let text = include_str!("../../convert/petstore.yaml").replace("ADDRESS", &server.address);
    let (script, requests) = sent("petstore.yaml", &text, &server);
    let expected = [
        "GET /v1/pets?limit=20&tags=a&tags=b",
        "POST /v1/pets",
        "GET /v1/pets/7",
        "DELETE /v1/pets/7",
        "POST /v1/search?key=",
        "PUT /v1/photo",
    ];
    assert_eq!(lines(&requests), expected, "{script}");
    assert!(
        requests[1].contains(r#"| {\"name\":\"Rex\",\"born\":\"2026-01-01\",\"kind\":\"cat\",\"parent\":null}"#),
        "{}",
        requests[1]
    );
    assert!(requests[1].contains("accept: application/json\nauthorization: Bearer\n"), "{}", requests[1]);
    assert!(requests[4].contains("| q=text&n=3\n"), "{}", requests[4]);
    assert!(requests[5].contains("filename=\\\"image.bin\\\""), "{}", requests[5]);
    for part in [
        "group('pets', () => {",
        "// listPets: All pets\n    // optional: after\n",
        "tags: { name: 'GET /pets/{id}' }",
        "const bearerAuth = __ENV.bearerAuth || '';",
        "'status is 201': (r) => r.status === 201",
    ] {
        assert!(script.contains(part), "{part} in\n{script}");
    }
    let lab = Lab::new();
    convert(&lab, "p.yaml", &text).says("the cyclic reference #/components/schemas/Pet is cut where it repeats");
    convert(&lab, "bad.yaml", "openapi: 3.0.0\npaths:\n  /a: [1\n").code(255).says("bad.yaml:4:1: this is not YAML");
    let odd = "openapi: 3.0.0\nservers: [{ url: //api.test/v2 }]\npaths:\n  /a:\n    get:\n      parameters:\n      \
               - { name: an odd name, in: header, required: true }\n      \
               - { name: Signature, in: header, required: true, example: \"a,\\n  b\" }\n      responses: {}\n";
    convert(&lab, "odd.yaml", odd)
        .code(0)
        .says("'an odd name' is no name of a header; left out")
        .prints("|| 'https://api.test'")
        .prints("Signature: 'a, b'");
    convert(&lab, "old.yaml", "openapi: 4.0.0\n")
        .code(255)
        .says("found 'openapi: 4.0.0', expected a description in OpenAPI 3");
}

#[test]
fn a_line_of_wrk_and_files_of_vegeta() {
    let server = Capture::start().expect("a server");
    let lab = Lab::new();
    lab.file(
        "post.lua",
        "wrk.method = \"POST\"\nwrk.body = \"a=1\"\nwrk.headers[\"X-L\"] = \"lua\"\nfunction delay() return 1 end\n",
    );
    lab.file("w.sh", &format!("wrk -t 2 -c 2 -d 1s -s post.lua http://{}/w", server.address));
    let run = lab.onrush(&["convert", "w.sh", "-O", "w.js"]).code(0).says("onrush run --workers 2");
    assert!(run.stderr.contains("1 lines of the Lua script post.lua"), "{}", run.stderr);
    lab.onrush(&["run", "-q", "w.js"]).code(0);
    let requests = arrived(&server);
    assert!(
        requests.len() > 2 && requests[0].contains("x-l: lua\n") && requests[0].ends_with("| a=1\n"),
        "{requests:?}"
    );
    let text = format!("# a\nPUT http://{0}/v\nX-A: b\n@text.txt\n\nGET http://{0}/g\n", server.address);
    let (_, requests) = sent("targets", &text, &server);
    assert_eq!(lines(&requests), ["PUT /v", "GET /g"]);
    assert!(requests[0].contains("| line one\\r\\n"), "{}", requests[0]);
}

#[test]
fn a_log_is_replayed_at_its_times() {
    let server = Capture::start().expect("a server");
    let lab = Lab::new();
    let line = |second: u32, request: &str| {
        format!("127.0.0.1 - - [10/Oct/2026:13:55:{second:02} +0000] \"{request}\" 200 5 \"-\" \"Agent/1\"\n")
    };
    let log =
        line(1, "GET /b?x=1 HTTP/1.1") + &line(0, "POST /a HTTP/1.1") + "junk\n" + &line(1, "GET /logo.png HTTP/1.1");
    lab.file("access.log", &log);
    lab.onrush(&["convert", "access.log"]).code(255).says("say where, with -O script.js");
    let base = format!("http://{}", server.address);
    let run = lab.onrush(&["convert", "access.log", "-O", "r.js", "--base-url", &base, "--skip-static"]).code(0);
    let run = run.says("line 3: this is no line of a log").says("POST is sent without one");
    assert!(run.stderr.contains("r-requests.tsv: opened by the script"), "{}", run.stderr);
    assert_eq!(lab.read("r-requests.tsv"), "0.000000\tPOST\t/a\tAgent/1\n1.000000\tGET\t/b?x=1\tAgent/1\n");
    assert!(lab.read("r.js").contains("executor: 'trace'"));
    let started = std::time::Instant::now();
    lab.onrush(&["run", "-q", "r.js"]).code(0);
    assert!(started.elapsed().as_millis() >= 1000, "the second request is a second later");
    let requests = arrived(&server);
    assert_eq!(lines(&requests), ["POST /a", "GET /b?x=1"]);
    assert!(requests[0].contains("user-agent: Agent/1\n"), "{}", requests[0]);
    lab.onrush(&["convert", "access.log", "-O", "n.js", "--base-url", &base, "--no-timing"]).code(0);
    lab.onrush(&["run", "-q", "n.js"]).code(0);
    assert_eq!(arrived(&server).len(), 3);
}

#[test]
fn variables_of_a_shell_are_expressions() {
    let server = Capture::start().expect("a server");
    let text = format!("B=http://{}\ncurl \"$B/a\" -H 'Accept: x' -d \"n=$N\"\ncurl -d @none $B/b\n", server.address);
    let lab = Lab::new();
    let run = convert(&lab, "a.sh", &text).code(0);
    let run =
        run.says("line 2: the variable N is given by -e N=…").says("line 3: not converted: cannot read the file none");
    assert!(run.stdout.contains("// not converted: cannot read the file none"), "{}", run.stdout);
    lab.file("script.js", &run.stdout);
    lab.run(&["-e", "N=5"]).code(0);
    let requests = arrived(&server);
    assert!(requests[0].ends_with("| n=5\n"), "{requests:?}");
}
