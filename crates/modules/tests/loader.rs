//! Modules of every kind through the real host.

#![allow(clippy::unwrap_used)]

mod driver;

use std::path::{Path, PathBuf};

use driver::{block_on, load_source};
use script::{ScriptError, Source};

/// A directory of files that is removed at the end.
struct Files(PathBuf);

impl Files {
    fn new(name: &str, files: &[(&str, &str)]) -> Files {
        let path = std::env::temp_dir().join(format!("onrush-loader-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for (file, text) in files {
            std::fs::write(path.join(file), text).unwrap();
        }
        Files(path)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Loads `entry` of a directory, runs one iteration; all that was logged by the user, its init code included.
fn run(directory: &Path, entry: &str) -> Result<Vec<String>, ScriptError> {
    block_on(async {
        let (program, log, recorder) = load_source(Source::File(entry.into()), directory.to_path_buf()).await;
        let test = driver::Test { program: program?, log, recorder };
        test.log.take();
        let (mut user, _) = test.user(1).await;
        use engine::VirtualUser;
        user.iterate(driver::iteration(&driver::scenario("default"), 0)).await;
        Ok(test.log.take())
    })
}

#[test]
fn common_js_and_es_modules_mix() {
    let files = Files::new(
        "mix",
        &[
            ("cjs.js", "exports.x = 1; exports.default = 5; exports.f = function () { return typeof this };"),
            ("plain.js", "console.log(typeof module, typeof exports, typeof require, this === module.exports)"),
            ("returns.js", "exports.y = 2; return; exports.y = 3"),
            ("esm.js", "export const z = 26; export default 'dz'"),
            (
                "main.js",
                "import * as ns from './cjs.js'; import d, { x } from './cjs.js'; import './plain.js';
                 import * as r from './returns.js';
                 console.log(Object.keys(ns).sort().join(), d, x, r.y);
                 const q = require('./cjs.js'); console.log(q.x, q.default, require('./esm.js').z, \
                 require('./esm.js').default);
                 try { exports.z = 1 } catch (e) { console.log(e.message.includes('CommonJS')) }
                 console.log(import.meta.resolve('./x.js').endsWith('/x.js'));
                 export default function () { try { require('./cjs.js') } catch (e) \
                 { console.log(e.message.includes('init code')) } }",
            ),
        ],
    );
    assert_eq!(
        run(&files.0, "main.js").unwrap(),
        ["object object function true", "default,f,x 5 1 2", "1 5 26 dz", "true", "true", "true"]
    );
}

#[test]
fn an_entry_may_be_common_js() {
    let files = Files::new("entry", &[("main.js", "exports.default = function () { console.log('ran') }")]);
    assert_eq!(run(&files.0, "main.js").unwrap(), ["ran"]);
}

#[test]
fn typescript_keeps_its_places() {
    let files = Files::new(
        "ts",
        &[
            (
                "lib.ts",
                "interface A {\n  a: number\n}\nenum C { P = 1, Q }\nexport function x(a?: A): void \
                 {\n  const q: A = { a: 1 };\n  console.log(C.Q, q);\n  throw new Error('here');\n}\n",
            ),
            ("main.js", "import { x } from './lib.ts';\nexport default function () { x() }"),
        ],
    );
    let lines = run(&files.0, "main.js").unwrap();
    assert_eq!(lines[0], "2 { a: 1 }");
    assert!(lines[1].contains("/lib.ts:8:"), "{lines:?}");
}

#[test]
fn top_level_await() {
    let files = Files::new(
        "tla",
        &[(
            "main.js",
            "const v = await new Promise((r) => setTimeout(() => r(3), 5)); export default function () \
             { console.log(v) }",
        )],
    );
    assert_eq!(run(&files.0, "main.js").unwrap(), ["3"]);
}

#[test]
fn open_reads_and_maps() {
    let files = Files::new(
        "open",
        &[
            ("data.txt", "hello"),
            ("empty.bin", ""),
            (
                "main.js",
                "const t = open('data.txt'), b = open('./data.txt', 'b'), e = open('empty.bin', 'b');
                 export default function () {
                   new Uint8Array(b)[0] = 72;
                   console.log(t, b, e);
                   try { open('data.txt') } catch (e) { console.log(e.message.includes('init code')) }
                 }",
            ),
        ],
    );
    let expected = "hello ArrayBuffer { [Uint8Contents]: <48 65 6c 6c 6f>, byteLength: 5 } ArrayBuffer \
        { [Uint8Contents]: <>, byteLength: 0 }";
    assert_eq!(run(&files.0, "main.js").unwrap(), [expected, "true"]);
    assert_eq!(std::fs::read(files.0.join("data.txt")).unwrap(), b"hello");
}

#[test]
fn later_users_cannot_add_files_or_modules() {
    let files = Files::new(
        "late",
        &[
            ("x.js", "exports.x = 1"),
            (
                "main.js",
                "if (__VU > 0) {
                   try { open('./x.js') } catch (e) { console.log(e.message.includes('first run')) }
                   try { require('./x.js') } catch (e) { console.log(e.message.includes('first run')) }
                 }
                 export default function () {}",
            ),
        ],
    );
    assert_eq!(run(&files.0, "main.js").unwrap(), ["true", "true"]);
}

#[test]
fn missing_files_are_named() {
    let files = Files::new("missing", &[("main.js", "import './nope.js'"), ("open.js", "open('nope.txt')")]);
    let error = run(&files.0, "main.js").unwrap_err();
    assert_eq!(
        (error.exit_code, error.message.contains("there is no file") && error.message.contains("/nope.js")),
        (107, true),
        "{error}"
    );
    let error = run(&files.0, "open.js").unwrap_err();
    assert!(error.to_string().contains("open.js:1:") && error.message.contains("no such file"), "{error}");
}

/// A TLS server on a free port that gives this module to every request, with a certificate nobody trusts.
async fn serve_module(text: &'static str) -> u16 {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let pair = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(pair.signing_key.serialize_der()).into();
    let config =
        rustls::ServerConfig::builder_with_provider(std::sync::Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![pair.cert.der().clone()], key)
            .unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = std::sync::Arc::new(config);
    tokio::task::spawn_local(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut tls = rustls::ServerConnection::new(config.clone()).unwrap();
            let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
            let mut sent = false;
            loop {
                let mut out = Vec::new();
                while tls.wants_write() {
                    tls.write_tls(&mut out).unwrap();
                }
                socket.write_all(&out).await.unwrap();
                if sent {
                    break;
                }
                let mut received = vec![0; 16384];
                let length = socket.read(&mut received).await.unwrap_or(0);
                if length == 0 || tls.read_tls(&mut &received[..length]).is_err() || tls.process_new_packets().is_err()
                {
                    break;
                }
                let mut request = Vec::new();
                let _ = std::io::Read::read_to_end(&mut tls.reader(), &mut request);
                if !request.is_empty() {
                    std::io::Write::write_all(&mut tls.writer(), response.as_bytes()).unwrap();
                    sent = true;
                }
            }
        }
    });
    port
}

#[test]
fn modules_are_fetched_and_kept() {
    let files = Files::new("https", &[]);
    let directory = files.0.clone();
    block_on(async move {
        let port = serve_module("export const x = 'fetched'").await;
        let script = format!(
            "import {{ x }} from 'https://127.0.0.1:{port}/lib.js'; export default function () {{ console.log(x) }}"
        );
        let load = async |options: script::options::Options, is_offline: bool, script: &str| {
            let registry = metrics::Registry::new();
            let log = std::sync::Arc::new(driver::Lines::default());
            let recorder = std::rc::Rc::new(metrics::Recorder::new(registry.clone()));
            let load = script::LoadOptions {
                env: Default::default(),
                cwd: directory.clone(),
                cache_dir: Some(directory.join("cache")),
                is_offline,
                options,
                log: log.clone(),
                registry,
                recorder: recorder.clone(),
                builtins: &onrush_modules::BUILTINS,
                secrets: Default::default(),
                debugger: None,
            };
            let source = Source::Text { name: "-".into(), text: script.into() };
            let program = script::Program::load(source, load).await;
            program.map(|program| driver::Test { program, log, recorder })
        };
        let trusting = script::options::Options { insecure_skip_tls_verify: Some(true), ..Default::default() };

        let error = load(Default::default(), false, &script).await.err().unwrap();
        assert!(error.message.contains(&format!("cannot import https://127.0.0.1:{port}/lib.js: ")), "{error}");

        let error = load(trusting.clone(), true, &script).await.err().unwrap();
        let expected = format!("cannot import https://127.0.0.1:{port}/lib.js: --offline is set");
        assert!(error.message.contains(&expected), "{error}");

        let test = load(trusting.clone(), false, &script).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(test.run(1).await, ["fetched"]);

        // Certificates are checked again: the network refuses, the copy serves.
        let test = load(Default::default(), false, &script).await.unwrap_or_else(|error| panic!("{error}"));
        let warnings = test.log.take();
        assert!(warnings[0].contains("the copy of an earlier run is used"), "{warnings:?}");
        assert_eq!(test.run(1).await, ["fetched"]);

        // Nobody is asked, so nothing is to be warned of.
        let test = load(Default::default(), true, &script).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(test.log.take(), Vec::<String>::new());
        assert_eq!(test.run(1).await, ["fetched"]);
    });
}

/// A FormData in the manner of k6's library, not its text: it marks the bodies that it made.
const COPY: &str = "
function FormData() { if (!(this instanceof FormData)) return new FormData(); this.boundary = 'B'; this.all = []; }
FormData.prototype.append = function(name, value) { this.all.push([name, value]) };
FormData.prototype.body = function() {
    var text = 'copy', bytes = [];
    for (var part of this.all) text += '--B\\r\\nContent-Disposition: form-data; name=\"' + part[0] + '\"\\r\\n\\r\\n' \
    + part[1] + '\\r\\n';
    for (var i = 0; i < text.length; ++i) bytes.push(text.charCodeAt(i) & 0xff);
    return new Uint8Array(bytes).buffer;
};";

const USE: &str = "
const form = new FormData();
form.append('a', 'v');
const text = String.fromCharCode(...new Uint8Array(form.body()));
console.log(form instanceof FormData, typeof form.has, text.slice(0, 4), text.split('text/plain').length);
export default function () {}";

#[test]
fn a_known_copy_of_the_form_library_is_replaced_in_any_module() {
    use script::builtins::LibraryText;
    use script::loader::library::{replace, signatures};
    use script::source_kind::SourceKind;
    let signature = signatures(COPY, SourceKind::CommonJs).remove(0).1;
    let module = "https://jslib.k6.io/formdata/0.0.2/index.js";
    let known = [LibraryText { signature: signature.leak(), version: "1", module }];
    let common = format!("if (exports.FormData) {{ return; }}\nexports.FormData = FormData;\n{COPY}");
    let bundle = format!(
        "var all = {{ 7: (module, exports) => {{ exports.FormData = FormData; {COPY} }} }}; all[7]({{}}, exports);"
    );
    let cases = [("common.js", common, SourceKind::CommonJs), ("bundle.js", bundle, SourceKind::CommonJs)];
    let module_text = (("es.js"), format!("{COPY}\nexport {{ FormData }};"), SourceKind::EsModule);
    for (name, text, kind) in cases.into_iter().chain([module_text]) {
        let (replaced, _) = replace(&text, kind, &known).expect("it is known");
        let main = format!("import {{ FormData }} from './{name}';{USE}");
        let [as_written, native] = [&text, &replaced].map(|text| {
            let files = Files::new(&format!("library-{name}"), &[(name, text), ("main.js", &main)]);
            run(&files.0, "main.js").unwrap()
        });
        assert_eq!(as_written, ["true undefined copy 1"], "{name}");
        assert_eq!(native, ["true function ---- 2"], "{name}");
    }
}
