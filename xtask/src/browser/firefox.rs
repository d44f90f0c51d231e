//! The same pages in Firefox, where it is installed: `probe.js` in its own windows, asked by Marionette, Firefox's
//! protocol for tests (a length, a colon, a JSON list).
//!
//! Not instead of chromium: another engine lays out, draws and complains in its own way. Without Firefox the suite
//! says so and goes on.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::look::{LOOKS, Look, ShownPage, found_in, harness, probe_input, texts, told};
use super::program::PATIENCE;

/// Names that it goes by.
const NAMES: [&str; 2] = ["firefox-esr", "firefox"];

/// Looks at the pages; what is wrong with them.
pub fn look(folder: &Path, pages: &[ShownPage], axe: Option<&str>) -> Result<Vec<String>, String> {
    let Some(program) = find() else {
        println!("Firefox is left out: it is not installed (Debian's package is firefox-esr; $FIREFOX names a binary)");
        return Ok(Vec::new());
    };
    let mut problems = Vec::new();
    for look in &LOOKS {
        let mut firefox = Firefox::start(&program, folder, look)?;
        for page in pages {
            let input = probe_input(page, look, axe)?;
            let harness = harness(folder, &input, include_str!("probe.js"))?;
            let found = firefox.probe(&harness)?;
            firefox.picture(&page.path, &folder.join(format!("{}-{}-firefox.png", page.name, look.name)))?;
            problems.extend(told(&format!("{} in Firefox", page.name), look, found));
        }
    }
    Ok(problems)
}

fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("FIREFOX") {
        return Some(PathBuf::from(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

/// A running Firefox that goes when this does.
struct Firefox {
    child: Child,
    stream: TcpStream,
    asked: u64,
}

impl Drop for Firefox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Firefox {
    fn start(program: &Path, folder: &Path, look: &Look) -> Result<Firefox, String> {
        let cannot = |error: std::io::Error| format!("{}: {error}", program.display());
        let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).map_err(cannot)?.port();
        let profile = folder.join("firefox");
        let _none_before = std::fs::remove_dir_all(&profile);
        std::fs::create_dir_all(&profile).map_err(cannot)?;
        std::fs::write(profile.join("user.js"), preferences(port, look.dark)).map_err(cannot)?;
        let mut command = Command::new(program);
        command.args(["--headless", "--no-remote", "--marionette", "--profile"]).arg(&profile);
        command.args(["--width", "1280", "--height", "1000"]).env("HOME", &profile);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(cannot)?;
        let end = Instant::now() + PATIENCE;
        let stream = loop {
            match TcpStream::connect(("127.0.0.1", port)) {
                Ok(stream) => break stream,
                Err(_) if Instant::now() < end => std::thread::sleep(std::time::Duration::from_millis(100)),
                Err(error) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("{} does not listen: {error}", program.display()));
                }
            }
        };
        let mut firefox = Firefox { child, stream, asked: 0 };
        firefox.stream.set_read_timeout(Some(PATIENCE)).map_err(cannot)?;
        // It greets first.
        firefox.message()?;
        firefox.ask("WebDriver:NewSession", json!({ "capabilities": {} }))?;
        Ok(firefox)
    }

    /// What `probe.js` finds wrong.
    fn probe(&mut self, harness: &Path) -> Result<Vec<String>, String> {
        self.open(harness)?;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let script = json!({ "script": "return document.documentElement.textContent", "args": [] });
            let text = self.ask("WebDriver:ExecuteScript", script)?;
            if let Some(found) = text["value"].as_str().filter(|text| text.starts_with("FOUND")).and_then(found_in) {
                let found = serde_json::from_str(found).map_err(|error| format!("Firefox said {found}: {error}"))?;
                return Ok(texts(&found));
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Err(format!("{} never came to its end in Firefox", harness.display()))
    }

    fn picture(&mut self, page: &Path, path: &Path) -> Result<(), String> {
        self.open(page)?;
        let answer = self.ask("WebDriver:TakeScreenshot", json!({ "full": true, "hash": false }))?;
        let text = answer["value"].as_str().unwrap_or_default();
        let picture = base64_simd::STANDARD.decode_to_vec(text).map_err(|_| "Firefox gave no picture")?;
        std::fs::write(path, picture).map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    fn open(&mut self, page: &Path) -> Result<(), String> {
        self.ask("WebDriver:Navigate", json!({ "url": format!("file://{}", page.display()) })).map(drop)
    }

    fn ask(&mut self, command: &str, parameters: Value) -> Result<Value, String> {
        self.asked += 1;
        let text = json!([0, self.asked, command, parameters]).to_string();
        let cannot = |error: std::io::Error| format!("Firefox, {command}: {error}");
        self.stream.write_all(format!("{}:{text}", text.len()).as_bytes()).map_err(cannot)?;
        match self.message()? {
            Value::Array(parts) if parts.len() == 4 && parts[2].is_null() => Ok(parts[3].clone()),
            answer => Err(format!("Firefox refused {command}: {answer}")),
        }
    }

    fn message(&mut self) -> Result<Value, String> {
        let cannot = |error: std::io::Error| format!("Firefox does not answer: {error}");
        let (mut length, mut byte) = (0_usize, [0]);
        loop {
            self.stream.read_exact(&mut byte).map_err(cannot)?;
            match byte[0] {
                b':' => break,
                digit @ b'0'..=b'9' if length < 1 << 28 => length = length * 10 + usize::from(digit - b'0'),
                other => return Err(format!("Firefox does not speak Marionette: {other}")),
            }
        }
        let mut text = vec![0; length];
        self.stream.read_exact(&mut text).map_err(cannot)?;
        serde_json::from_slice(&text).map_err(|error| format!("Firefox speaks no JSON: {error}"))
    }
}

/// Nothing is asked of a network, and the reader's system is light or dark.
fn preferences(port: u16, dark: bool) -> String {
    let all = [
        ("marionette.port", port.to_string()),
        ("layout.css.prefers-color-scheme.content-override", u8::from(!dark).to_string()),
        ("browser.shell.checkDefaultBrowser", String::from("false")),
        ("browser.startup.page", String::from("0")),
        ("app.update.enabled", String::from("false")),
        ("datareporting.policy.dataSubmissionEnabled", String::from("false")),
        ("toolkit.telemetry.enabled", String::from("false")),
        ("network.captive-portal-service.enabled", String::from("false")),
        ("network.connectivity-service.enabled", String::from("false")),
        ("services.settings.server", String::from("\"data:,#remote-settings-dummy/v1\"")),
    ];
    all.map(|(name, value)| format!("user_pref(\"{name}\", {value});\n")).concat()
}
