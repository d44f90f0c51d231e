//! `onrush serve app.js` and `onrush run --serve=app.js`: apps in JavaScript over real sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::lab::{Lab, finish};

/// A running app.
struct Serving {
    child: Child,
    address: String,
    _lab: Lab,
}

impl Serving {
    fn app(text: &str) -> Serving {
        Serving::with(text, &[])
    }

    fn with(text: &str, flags: &[&str]) -> Serving {
        let lab = Lab::new();
        lab.file("app.ts", text);
        lab.file("hello.txt", "hello from a file\n");
        lab.file("page.txt", "a page\n");
        let all: Vec<&str> =
            ["serve", "--listen", "tcp://127.0.0.1:0", "app.ts"].into_iter().chain(flags.iter().copied()).collect();
        let mut child = lab.command(&all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("onrush starts");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        stdout.read_line(&mut line).expect("a line");
        child.stdout = Some(stdout.into_inner());
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_default().to_string();
        if address.is_empty() {
            let mut why = String::new();
            let _ = child.stderr.take().expect("piped").read_to_string(&mut why);
            panic!("it does not serve: {line}{why}");
        }
        Serving { child, address, _lab: lab }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        stream
    }

    /// Sends the bytes and returns all that comes back until the server closes.
    fn exchange(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(request).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("answered");
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, path: &str) -> String {
        self.exchange(format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").as_bytes())
    }

    fn post(&self, path: &str, kind: &str, body: &[u8]) -> String {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: \
             {}\r\n\r\n",
            body.len()
        );
        self.exchange(&[head.as_bytes(), body].concat())
    }

    /// Ends it as an operator would, so that lines on their way are written; what it wrote to standard error.
    fn log(mut self) -> String {
        let pid = self.child.id().to_string();
        std::process::Command::new("kill").arg(&pid).status().expect("kill runs");
        let mut log = String::new();
        self.child.stderr.take().expect("piped").read_to_string(&mut log).expect("a log");
        log
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

const ROUTES: &str = r#"
interface Route { (request: Request): Response | Promise<Response> }
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))
const routes: Record<string, Route> = {
  '/text': () => new Response('hello', { headers: { 'x-app': 'yes' } }),
  '/json': async (request) => Response.json({ got: await request.json() }),
  '/pieces': () => new Response(['a', new Uint8Array([98]), 'c']),
  '/stream': () => new Response((async function* () { yield 'one,'; await pause(5); yield 'two' })()),
  '/echo': (request) => new Response(request.body),
  '/file': () => new Response(Onrush.file('./hello.txt', { offset: 6 })),
  '/form': async (request) => {
    const form = await request.formData()
    const file = form.get('f') as File
    return Response.json([form.get('a'), file.name, file.type, await file.text()])
  },
  '/throw': () => { throw new TypeError('boom') },
  '/loop': () => { for (;;); },
  '/nothing': () => undefined as unknown as Response,
}
export default {
  fetch(request: Request) {
    const route = routes[new URL(request.url).pathname]
    return route ? route(request) : new Response('no such page', { status: 404 })
  },
}
"#;

#[test]
fn answers_of_every_kind_arrive() {
    let serving = Serving::app(ROUTES);
    let answer = serving.get("/text");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\r\nx-app: yes\r\n"), "{answer}");
    assert!(answer.to_lowercase().contains("content-type: text/plain;charset=utf-8\r\n"), "{answer}");
    assert_eq!(body(&answer), "hello");
    assert!(serving.get("/none").starts_with("HTTP/1.1 404 "));
    assert_eq!(body(&serving.post("/json", "application/json", b"{\"a\":[1]}")), "{\"got\":{\"a\":[1]}}");
    let pieces = serving.get("/pieces");
    assert!(pieces.to_lowercase().contains("content-length: 3\r\n") && body(&pieces) == "abc", "{pieces}");
    let stream = serving.get("/stream");
    assert!(stream.contains("4\r\none,\r\n") && stream.ends_with("3\r\ntwo\r\n0\r\n\r\n"), "{stream}");
    assert_eq!(body(&serving.get("/file")), "from a file\n");
    let form = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x\r\nContent-Disposition: form-data; \
        name=\"f\"; filename=\"f.bin\"\r\nContent-Type: image/png\r\n\r\n2\r\n--x--\r\n";
    let answer = serving.post("/form", "multipart/form-data; boundary=x", form);
    assert_eq!(body(&answer), r#"["1","f.bin","image/png","2"]"#);
}

#[test]
fn a_large_body_is_echoed_piece_by_piece() {
    let serving = Serving::app(ROUTES);
    let sent: Vec<u8> = (0..3_000_000u32).map(|n| b'a' + (n % 23) as u8).collect();
    let answer = serving.exchange(
        &[format!("POST /echo HTTP/1.0\r\nContent-Length: {}\r\n\r\n", sent.len()).as_bytes(), &sent].concat(),
    );
    assert_eq!(body(&answer).len(), sent.len());
    assert!(body(&answer).as_bytes() == sent, "the bytes are those that were sent");
}

#[test]
fn handlers_that_fail_answer_500_and_the_app_goes_on() {
    let serving = Serving::with(ROUTES, &["--busy-limit", "200ms"]);
    for path in ["/throw", "/nothing", "/loop", "/throw"] {
        let answer = serving.get(path);
        assert!(answer.starts_with("HTTP/1.1 500 "), "{path}: {answer}");
        assert_eq!(body(&serving.get("/text")), "hello", "after {path}");
    }
    let log = serving.log();
    assert_eq!(log.matches("TypeError: boom").count(), 2, "{log}");
    assert!(log.contains("GET http://h/throw") && log.contains("app.ts:16:"), "places are those of the source: {log}");
    assert!(log.contains("fetch() returned undefined, expected a Response"), "{log}");
    assert!(log.contains("computed for 200ms without waiting"), "{log}");
}

#[test]
fn handlers_interleave() {
    let serving = Serving::app(
        "export default { async fetch(request) {
            if (request.url.endsWith('/slow')) await new Promise((done) => setTimeout(done, 60_000))
            return new Response('quick')
        } }",
    );
    let mut slow = serving.connect();
    slow.write_all(b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n").expect("sent");
    assert_eq!(body(&serving.get("/quick")), "quick");
    // The client goes; nobody logs anything about it.
    slow.shutdown(Shutdown::Both).expect("shut down");
    assert_eq!(body(&serving.get("/quick")), "quick");
    assert_eq!(serving.log(), "");
}

#[test]
fn uploads_are_received_into_memory_of_the_app() {
    let serving = Serving::app(
        "const free = []
        let made = 0, lent = 0
        export default {
            allocate(size) { lent++; if (free.length === 0) made++; return free.pop() ?? new Uint8Array(size) },
            async fetch(request) {
                let bytes = 0
                for await (const piece of request.body ?? []) {
                    bytes += piece.length
                    free.push(piece.buffer)
                }
                return Response.json({ bytes, made, reused: lent > made })
            },
        }",
    );
    for _ in 0..3 {
        let answer = serving.post("/", "a/b", &vec![7; 1_000_000]);
        assert!(body(&answer).starts_with("{\"bytes\":1000000,"), "{answer}");
    }
    let answer = serving.get("/");
    // One is handed out ahead while the app looks at another, and the server's own pool is not asked.
    let few = ["\"made\":1,", "\"made\":2,", "\"made\":3,"].iter().any(|made| body(&answer).contains(made));
    assert!(body(&answer).contains("\"reused\":true") && few, "{answer}");
    let stats = serving.get("/stats");
    assert!(body(&stats).contains("\"allocated\": 0"), "{stats}");
}

#[test]
fn a_read_that_outlives_its_response_fails() {
    let serving = Serving::app(
        "let failed = 'nothing'
        export default { fetch(request) {
            if (request.method === 'GET') return new Response(failed)
            request.text().catch((error) => { failed = error.message })
            return new Response('early')
        } }",
    );
    let mut stream = serving.connect();
    stream.write_all(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9000000\r\n\r\nabc").expect("sent");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 200");
    drop(stream);
    let told = (0..500).map(|_| serving.get("/")).find(|answer| body(answer) != "nothing").expect("it is told");
    assert!(body(&told).starts_with("the body broke off: "), "{told}");
}

#[test]
fn what_is_no_app_ends_with_the_exit_code_of_a_script() {
    let lab = Lab::new();
    lab.file("test.js", "export default function () {}");
    lab.file("most.js", "export default { fetch() {}, websocket: { maxMessage: 0 } }");
    lab.file("broken.js", "export default {\n  fetch( { }\n}");
    for (file, code, text) in [
        (
            "test.js",
            107,
            "error: test.js: TypeError: the default export is a function, expected an object with fetch(request)",
        ),
        (
            "most.js",
            107,
            "error: most.js: RangeError: websocket.maxMessage is 0, expected a whole number of bytes from 1 to \
             67108864",
        ),
        ("broken.js", 107, "broken.js:3:1: SyntaxError"),
        ("none.js", 255, "there is no script"),
    ] {
        let run = finish(lab.command(&["serve", "--listen", "tcp://127.0.0.1:0", file]));
        assert_eq!(run.code, code, "{file}: {}", run.stderr);
        assert!(run.stderr.contains(text), "{file}: {}", run.stderr);
    }
}

#[test]
fn a_run_serves_an_app_beside_itself_and_trusts_its_certificate() {
    let lab = Lab::with(
        "import http from 'k6/http'
        import { check } from 'k6'
        export const options = { thresholds: { checks: ['rate==1'] } }
        export default () => {
            for (const address of [__ENV.TARGET, __ENV.TARGET_TLS]) {
                const answer = http.post(`${address}/a?b`, 'body')
                check(answer, { 'the app answered': (r) => r.status === 200 && r.body === `POST ${address}/a?b body \
                ${__ENV.NAME}` })
            }
            check(__ENV, { 'other addresses': (env) => env.TARGET_WS.startsWith('ws://') && \
            env.TARGET_UNIX.endsWith('.sock') })
        }",
    );
    lab.file(
        "app.js",
        "export default { async fetch(request) {
            return new Response(`${request.method} ${request.url} ${await request.text()} ${__ENV.NAME}`)
        } }",
    );
    lab.run(&["--serve=app.js", "-e", "NAME=value"]).code(0);
    lab.file("app.js", "export default {}");
    let run = lab.run(&["--serve=app.js"]);
    assert!(run.code == 107 && run.stderr.contains("has no function fetch"), "{}", run.stderr);
}

#[test]
fn a_run_trusts_no_other_server_for_that() {
    let lab = Lab::with(
        "import http from 'k6/http'
        export default () => { http.get(__ENV.OTHER) }",
    );
    let mut other =
        lab.command(&["serve", "--listen", "tls://127.0.0.1:0"]).stdout(Stdio::piped()).spawn().expect("onrush starts");
    let mut line = String::new();
    let mut stdout = BufReader::new(other.stdout.take().expect("piped"));
    stdout.read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("listening on ").expect("an address");
    let run = lab.run(&["--serve", "-e", &format!("OTHER={address}")]);
    let _ = other.kill();
    let _ = other.wait();
    assert!(run.stderr.contains("x509: certificate signed by unknown authority"), "{}", run.stderr);
}

/// A WebSocket client that knows short frames without extensions.
struct Talker(TcpStream);

impl Talker {
    fn open(serving: &Serving, path: &str) -> Talker {
        let mut stream = serving.connect();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: \
             13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("an answer");
            answer.push(byte[0]);
        }
        let answer = String::from_utf8(answer).expect("text");
        assert!(answer.starts_with("HTTP/1.1 101 ") && answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{answer}");
        Talker(stream)
    }

    /// Sends a frame, masked with zeros.
    fn send(&mut self, opcode: u8, payload: &[u8]) {
        let head = [0x80 | opcode, 0x80 | payload.len() as u8, 0, 0, 0, 0];
        self.0.write_all(&[&head, payload].concat()).expect("sent");
    }

    /// The next frame: opcode and payload.
    fn receive(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).expect("a frame");
        let mut payload = vec![0; usize::from(head[1])];
        self.0.read_exact(&mut payload).expect("a payload");
        (head[0] & 15, payload)
    }

    fn text(&mut self) -> String {
        let (opcode, payload) = self.receive();
        assert_eq!(opcode, 1);
        String::from_utf8(payload).expect("text")
    }
}

#[test]
fn websockets_talk_to_the_app_and_to_each_other() {
    let serving = Serving::app(
        "const seen = []
        export default {
            fetch: () => new Response(seen.join()),
            websocket: {
                open(ws) {
                    ws.data = new URL(ws.request.url).pathname
                    ws.subscribe('room')
                    ws.send(`hello ${ws.data} ${ws.readyState} ${ws.isSubscribed('room')}`)
                },
                message(ws, message) {
                    if (message === 'all') ws.publish('room', `from ${ws.data}`)
                    else if (message === 'bye') ws.close(4000, 'done')
                    else if (message === 'throw') throw new TypeError('boom')
                    else ws.send(message)
                },
                async close(ws, code, reason) { seen.push(ws.data, code, reason, ws.readyState, ws.send('late')) },
            },
        }",
    );
    let (mut one, mut two) = (Talker::open(&serving, "/one"), Talker::open(&serving, "/two"));
    assert_eq!(one.text(), "hello /one 1 true");
    assert_eq!(two.text(), "hello /two 1 true");
    one.send(1, b"all");
    assert_eq!(two.text(), "from /one");
    one.send(1, b"throw");
    one.send(2, b"\x00\xff");
    assert_eq!(one.receive(), (2, vec![0, 255]), "it goes on, and does not get its own");
    one.send(1, b"bye");
    let (opcode, payload) = one.receive();
    assert_eq!((opcode, &payload[2..]), (8, &b"done"[..]));
    one.send(8, &4000u16.to_be_bytes());
    let mut rest = Vec::new();
    one.0.read_to_end(&mut rest).expect("the end");
    assert_eq!(body(&serving.get("/")), "/one,4000,,3,false");
    assert_eq!(serving.log().matches("TypeError: boom").count(), 1);
}

/// Blocks of a page that begin with this line, without the fences, and where each begins.
fn blocks<'a>(page: &'a str, fence: &str) -> Vec<(usize, &'a str)> {
    let begin = format!("\n{fence}\n");
    page.match_indices(&begin)
        .map(|(at, _)| {
            let rest = &page[at + begin.len()..];
            (at, &rest[..rest.find("\n```").expect("a fence at the end")])
        })
        .collect()
}

#[test]
fn the_examples_of_the_page_answer_as_it_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/apps.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let apps = blocks(&page, "```js");
    let mut tried = 0;
    for (at, app) in apps {
        // Requests and answers stand right behind an app; a test script has none.
        let behind = &page[at + "\n```js\n".len() + app.len()..];
        let Some(talk) = behind.strip_prefix("\n```\n```text\n") else { continue };
        let serving = Serving::app(app);
        let mut lines = talk.split("\n```").next().unwrap_or_default().lines();
        tried += 1;
        let mut asked = 0;
        while let Some(request) = lines.next().and_then(|line| line.strip_prefix("> ")) {
            let mut words = request.splitn(3, ' ');
            let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let answer = match method {
                "GET" => serving.get(path),
                _ => {
                    serving.post(path, "application/x-www-form-urlencoded", words.next().unwrap_or_default().as_bytes())
                }
            };
            let expected = lines.next().and_then(|line| line.strip_prefix("< ")).expect("an answer");
            let chunks = answer.contains("chunked");
            let text: String = match chunks {
                true => body(&answer).lines().skip(1).step_by(2).collect(),
                false => body(&answer).split_whitespace().collect::<Vec<_>>().join(" "),
            };
            assert_eq!(text, expected, "{request}\n{app}");
            asked += 1;
        }
        assert!(asked > 0, "nothing is asked of\n{app}");
    }
    assert!(tried >= 6, "{tried} examples");
}

#[test]
fn an_app_gives_memory_knowing_the_request() {
    let app = "const asked = []
        export default {
            allocate(size, request) {
                asked.push([request.method, new URL(request.url).pathname, request.headers.get('content-length'), \
                size].join(' '))
                return new ArrayBuffer(size)
            },
            async fetch(request) {
                let length = 0
                for await (const piece of request.body) length += piece.length
                return new Response(`${length}: ${[...new Set(asked.splice(0))].join(', ')}`)
            },
        }";
    let serving = Serving::with(app, &["--receive-size", "16k"]);
    let text = "text/plain";
    assert_eq!(body(&serving.post("/small", text, &[b'x'; 100])), "100: POST /small 100 100");
    assert_eq!(body(&serving.post("/large", text, &[b'x'; 300_000])), "300000: POST /large 300000 16384");
    let chunk = format!("3e8\r\n{}\r\n", "x".repeat(1000));
    let head = "POST /chunks HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    let answer = serving.exchange(format!("{head}{}0\r\n\r\n", chunk.repeat(50)).as_bytes());
    assert!(answer.contains("50000: POST /chunks  16384"), "{answer}");
}
