//! Autobahn|Testsuite against the WebSocket client and the target's server.
//!
//! Runs under Python 2.7, in an environment made once in the target folder. A case passes when its behaviour and its
//! close are OK, non-strict or informational, as the suite itself judges; failed and unimplemented ones fail the
//! command. Reports stay in the target folder, one page a case. Everything is bounded in time: a case that hangs is one
//! that failed.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use server::{Server, ServerConfig};
use wire::client::{Ask, Broken, WebSocket};
use wire::ws::{CloseReason, DeflateOffer, Event, Kind};
use wire::{Client, ClientContext, Settings, Url};

/// The suite and what makes its environment; later ones of the latter know no Python 2.
const SUITE: &str = "autobahntestsuite==25.10.1";
const ENVIRONMENT: &str = "virtualenv==20.15.1";
/// For one case.
const CASE_TIME: Duration = Duration::from_secs(300);
/// For all of them together.
const SUITE_TIME: Duration = Duration::from_secs(3600);
/// Bytes of a message at most; the suite sends 16 MiB.
const LIMIT: usize = 64 << 20;

/// So few failed cases are run once more.
const MOST_AGAIN: usize = 20;

/// Cases that may fail, with the reason. None does.
const EXCLUDED: &[(&str, &str)] = &[];

/// Which end is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Client,
    Server,
}

/// `[client|server] [CASE…]`, a case being a number with or without `*` at the end.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (ends, cases) = match arguments.split_first() {
        Some((end, cases)) if end == "client" => (&[End::Client][..], cases),
        Some((end, cases)) if end == "server" => (&[End::Server][..], cases),
        _ => (&[End::Client, End::Server][..], arguments),
    };
    let cases = if cases.is_empty() { vec!["*".to_owned()] } else { cases.to_vec() };
    let folder = crate::parity::workspace()?.join("target/conformance/autobahn");
    let suite = install(&folder)?;
    let mut failed = Vec::new();
    for end in ends {
        let name = format!("{end:?}").to_lowercase();
        let mut missed = test(*end, &suite, &folder.join(&name), &cases)?;
        if (1..=MOST_AGAIN).contains(&missed.len()) {
            // Some cases measure time, which a busy machine spoils: what fails alone has failed.
            println!("again, alone: {}", missed.join(" "));
            missed = test(*end, &suite, &folder.join(name + "-again"), &missed)?;
        }
        failed.extend(missed.into_iter().map(|case| format!("{end:?} {case}")));
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("cases that did not pass: {}", failed.join(", "))) }
}

/// Runs cases against one end; those that did not pass.
fn test(end: End, suite: &Path, report: &Path, cases: &[String]) -> Result<Vec<String>, String> {
    let _none_yet = std::fs::remove_dir_all(report);
    std::fs::create_dir_all(report).map_err(|error| format!("cannot make {}: {error}", report.display()))?;
    let began = Instant::now();
    match end {
        End::Client => test_client(suite, report, cases)?,
        End::Server => test_server(suite, report, cases)?,
    }
    summarise(end, report, began.elapsed())
}

/// Makes the environment where it is not there; the suite's program.
fn install(folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join("py27/bin/wstest");
    if program.exists() {
        return Ok(program);
    }
    println!("installing {SUITE} into {}", folder.display());
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let python2 = find_python2()?;
    let (three, two) = (folder.join("py3"), folder.join("py27"));
    call(Command::new("python3").args(["-m", "venv"]).arg(&three))?;
    call(Command::new(three.join("bin/pip")).args(["install", "--quiet", ENVIRONMENT]))?;
    let make = three.join("bin/virtualenv");
    call(Command::new(make).args(["--quiet", "--no-periodic-update", "--python"]).arg(python2).arg(&two))?;
    call(Command::new(two.join("bin/pip")).args(["install", "--quiet", SUITE]))?;
    Ok(program)
}

/// `$PYTHON2`, one on the path, or one of pyenv's.
fn find_python2() -> Result<PathBuf, String> {
    let versions = std::env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv/versions"));
    let of_pyenv = versions.and_then(|versions| std::fs::read_dir(versions).ok()).into_iter().flatten();
    let of_pyenv = of_pyenv.filter_map(Result::ok).map(|version| version.path().join("bin/python2.7"));
    let named = std::env::var_os("PYTHON2").map(PathBuf::from);
    let works = |python: &PathBuf| {
        let asked = Command::new(python).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    let mut all = named.into_iter().chain([PathBuf::from("python2.7")]).chain(of_pyenv);
    all.find(works)
        .ok_or_else(|| "no Python 2.7: the suite needs one, expected in $PYTHON2, on the path or in pyenv".into())
}

fn call(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{command:?} failed: {told}")) }
}

/// A program of the suite's; ends with the value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

fn start(suite: &Path, mode: &str, spec: &Value, folder: &Path) -> Result<Running, String> {
    let file = folder.join("spec.json");
    let log = std::fs::File::create(folder.join("wstest.log")).map_err(|error| error.to_string())?;
    std::fs::write(&file, spec.to_string()).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    let mut command = Command::new(suite);
    command.args(["--webport", "0", "--mode", mode, "--spec"]).arg(&file).current_dir(folder);
    let errors = log.try_clone().map_err(|error| error.to_string())?;
    let child =
        command.stdout(log).stderr(errors).spawn().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    Ok(Running(child))
}

/// The suite's client against the target.
fn test_server(suite: &Path, folder: &Path, cases: &[String]) -> Result<(), String> {
    let config = ServerConfig { tcp: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))], ..ServerConfig::default() };
    let server = Server::start(config).map_err(|error| format!("cannot start the target: {error}"))?;
    let url = format!("ws://{}/ws/echo", server.addresses().tcp[0]);
    let servers = json!([{ "agent": "onrush", "url": url }]);
    let spec = json!({
        "outdir": folder, "servers": servers, "cases": cases, "exclude-cases": [], "exclude-agent-cases": {},
    });
    let mut running = start(suite, "fuzzingclient", &spec, folder)?;
    let end = Instant::now() + SUITE_TIME;
    loop {
        match running.0.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("the suite ended with {status}; see {}", folder.display())),
            _ if Instant::now() > end => return Err("the suite did not end within an hour".into()),
            _ => std::thread::sleep(Duration::from_millis(200)),
        }
    }
}

/// The suite's server against the client.
fn test_client(suite: &Path, folder: &Path, cases: &[String]) -> Result<(), String> {
    let port =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr()).map_err(|e| e.to_string())?.port();
    let base = format!("127.0.0.1:{port}");
    let spec = json!({
        "url": format!("ws://{base}"), "outdir": folder, "cases": cases, "exclude-cases": [], "exclude-agent-cases": {},
    });
    let _running = start(suite, "fuzzingserver", &spec, folder)?;
    let end = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(&base).is_err() {
        if Instant::now() > end {
            return Err(format!("the suite's server does not listen; see {}", folder.display()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let runtime = wire::event_loop().map_err(|e| e.to_string())?;
    runtime.block_on(async {
        let worker = ClientContext::new(Arc::new(Settings::default())).map_err(|error| error.message)?;
        let client = Client::new(worker);
        let count = talk(&client, &format!("http://{base}/getCaseCount")).await?;
        let count: u32 = count.parse().map_err(|_| format!("the suite says it has {count:?} cases"))?;
        for case in 1..=count {
            let url = format!("http://{base}/runCase?case={case}&agent=onrush");
            let talk = talk(&client, &url);
            if tokio::time::timeout(CASE_TIME, talk).await.is_err() {
                println!("case {case} of {count} took longer than {CASE_TIME:?}");
            }
        }
        talk(&client, &format!("http://{base}/updateReports?agent=onrush")).await.map(drop)
    })
}

/// What is to be sent once the stream is free again.
type Reply = Box<dyn FnOnce(&mut WebSocket)>;

/// Echoes everything until the other side closes; the last text.
async fn talk(client: &Client, url: &str) -> Result<String, String> {
    let url = Url::parse(url).map_err(|error| error.message)?;
    let ask = Ask {
        url: &url,
        headers: &[],
        protocols: &[],
        deflate: Some(DeflateOffer::Any),
        timeout: CASE_TIME,
        message_limit: LIMIT,
    };
    let opening = client.open_websocket(&ask, None).await;
    let mut stream = opening.outcome.map_err(|failure| failure.message)?;
    let mut last = String::new();
    loop {
        let mut answers: Vec<Reply> = Vec::new();
        let mut closed = false;
        let received = std::future::poll_fn(|cx| {
            stream.poll_receive(cx, |event| match event {
                Event::Text(text) => {
                    text.clone_into(&mut last);
                    let text = text.to_owned();
                    answers.push(Box::new(move |stream| stream.message(Kind::Text, text.as_bytes())));
                }
                Event::Binary(bytes) => {
                    let bytes = bytes.to_vec();
                    answers.push(Box::new(move |stream| stream.message(Kind::Binary, &bytes)));
                }
                Event::Ping(payload) => {
                    let payload = payload.to_vec();
                    answers.push(Box::new(move |stream| stream.pong(&payload)));
                }
                Event::Pong(_) => {}
                Event::Close(reason) => {
                    closed = true;
                    let code = reason.map(|reason| reason.code);
                    let reason = move || code.map(|code| CloseReason { code, reason: "" });
                    answers.push(Box::new(move |stream| stream.close(reason())));
                }
            })
        })
        .await;
        answers.into_iter().for_each(|answer| answer(&mut stream));
        match received {
            Err(Broken::Protocol(violation)) => {
                stream.close(Some(CloseReason { code: violation.code, reason: violation.message }));
                closed = true;
            }
            Err(Broken::Network(_)) => return Ok(last),
            Ok(()) => {}
        }
        if stream.flush().await.is_err() || closed {
            return Ok(last);
        }
    }
}

/// Prints how many cases ended how; those that did not pass.
fn summarise(end: End, folder: &Path, took: Duration) -> Result<Vec<String>, String> {
    let index = folder.join("index.json");
    let text = std::fs::read_to_string(&index).map_err(|error| format!("cannot read {}: {error}", index.display()))?;
    let index: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let cases = index["onrush"].as_object().ok_or("the suite's report has no results")?;
    let mut failed = Vec::new();
    let mut counts = std::collections::BTreeMap::<String, u32>::new();
    for (case, result) in cases {
        let [behaviour, close] = ["behavior", "behaviorClose"].map(|key| result[key].as_str().unwrap_or("missing"));
        *counts.entry(format!("{behaviour}, close {close}")).or_default() += 1;
        let good = ["OK", "NON-STRICT", "INFORMATIONAL"];
        let excluded = EXCLUDED.iter().any(|(name, _)| name == case);
        let passed = good.contains(&behaviour) && good.contains(&close);
        if !passed && !excluded {
            println!("  {case}: {behaviour}, close {close}");
            failed.push(case.clone());
        }
    }
    println!("{end:?}: {} cases in {} s; reports in {}", cases.len(), took.as_secs(), folder.display());
    counts.iter().for_each(|(how, count)| println!("  {count:>4}  {how}"));
    Ok(failed)
}
