//! The page of a run (`--web`), opened in the same browser once its run has ended and lingers: then its stream of
//! events is closed, and the browser comes to an end of its own. The browser may reach this machine alone.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::chromium::browser_command;
use super::look::{LOOKS, Look, told};
use super::pages::SCRIPT;
use super::program::{PATIENCE, finish};

/// A run that goes when this does.
struct Lingering(Child);

impl Drop for Lingering {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Looks at the page by day, by night and on a phone; what is wrong with it.
pub fn look(browser: &Path, folder: &Path, onrush: &Path) -> Result<Vec<String>, String> {
    let cannot = |error: std::io::Error| format!("the page of a run: {error}");
    let script = folder.join("live.js");
    std::fs::write(&script, SCRIPT).map_err(cannot)?;
    let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).map_err(cannot)?.port();
    let mut command = Command::new(onrush);
    command.args(["run", "-q", "--serve", "--linger", "--web", "--web-port", &port.to_string()]).arg(&script);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _run = Lingering(command.spawn().map_err(cannot)?);
    wait_for_end(port)?;
    let mut problems = Vec::new();
    for look in LOOKS.iter().filter(|look| !look.print) {
        let found = look_at(browser, folder, port, look)?;
        problems.extend(told("live", look, found));
    }
    Ok(problems)
}

/// Reads events until the scenarios have ended.
fn wait_for_end(port: u16) -> Result<(), String> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        let mut text = String::new();
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
            let asked = stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            let _rest_is_told_by_its_end = asked.and_then(|()| stream.read_to_string(&mut text));
        }
        if text.contains("event: end") {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    Err(String::from("the page never said that its run has ended"))
}

fn look_at(browser: &Path, folder: &Path, port: u16, look: &Look) -> Result<Vec<String>, String> {
    let url = format!("http://127.0.0.1:{port}/");
    let open = |more: &[&str]| {
        let mut command = browser_command(browser, folder, look);
        command.args(["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--virtual-time-budget=3000"]);
        command.arg(format!("--window-size={},2400", look.width.max(500))).args(more).arg(&url);
        finish(command)
    };
    let picture = format!("--screenshot={}", folder.join(format!("live-{}.png", look.name)).display());
    open(&[&picture])?;
    let (_, dom, told) = open(&["--dump-dom"])?;
    // Not its script, which has such words as well.
    let dom = dom.split("<script>").next().unwrap_or_default();
    let mut problems: Vec<String> =
        told.lines().filter(|line| line.contains("CONSOLE")).map(|line| format!("the console says {line}")).collect();
    for (what, least) in [("<figure", 5), ("<path", 8), ("<caption>", 3), ("the scenarios have ended", 1)] {
        let found = dom.matches(what).count();
        if found < least {
            problems.push(format!("{found} × {what}, expected at least {least}"));
        }
    }
    if dom.contains("NaN") || dom.contains("undefined") {
        problems.push(String::from("a figure is none"));
    }
    Ok(problems)
}
