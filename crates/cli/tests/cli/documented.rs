//! Every command of README, of the book and of the help texts runs as it is written, beside the built-in server.
//!
//! A page has a folder with the files it shows by name. Only what no test can have is replaced: names of hosts by the
//! server's addresses, and lengths by a second. A block that cannot be run says why (`# not tested: …`), so that its
//! reader knows too.

mod page;

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use server::{Server, ServerConfig};

use self::page::{Block, blocks};
use crate::lab::Lab;

/// A block that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pages that run at the same time.
const LANES: usize = 3;
/// Languages of blocks that are no commands.
const OTHERS: [&str; 8] = ["js", "ts", "json", "toml", "csv", "text", "python", "yaml"];
/// What a page may run when it shows no script of that name.
const SCRIPT: &str = "import http from 'k6/http';
export const options = { vus: 2, duration: '1s' };
export default function () { http.get('http://localhost:8080/json'); }
";
/// Where the machine is busy, a limit on time may not hold: that alone is no failure.
const WRAPPER: &str = "#!/bin/bash
\"$ONRUSH\" \"$@\" 2> \"$0.$$\"
code=$?
cat \"$0.$$\" >&2
if [ $code = 99 ] && grep -q \"thresholds on metrics 'http_req_duration\" \"$0.$$\"; then exit 0; fi
exit $code
";

#[test]
fn every_command_of_the_book_runs() {
    let pages = Mutex::new(pages());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                while let Some((name, text)) = { pages.lock().expect("the pages").pop() } {
                    let found = std::panic::catch_unwind(|| try_page(&name, &text));
                    let found = found.unwrap_or_else(|_| Some(format!("{name}: the test itself failed")));
                    failures.lock().expect("the failures").extend(found);
                }
            });
        }
    });
    let failures = failures.into_inner().expect("the failures");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Every page with its text: Markdown, and help whose examples become a block.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "examples/collab/README.md"].map(|name| root.join(name)).into();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the book") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|extension| extension == "md") => files.push(path),
                false => {}
            }
        }
    }
    let name = |path: &Path| path.strip_prefix(&root).expect("a path of ours").display().to_string();
    let read =
        |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut pages: Vec<(String, String)> = files.iter().map(|path| (name(path), read(path))).collect();
    let lab = Lab::new();
    for command in ["run", "curl"] {
        let help = lab.onrush(&[command, "--help"]).code(0).stdout;
        let examples = help.lines().map(str::trim).filter(|line| line.starts_with("onrush ") && !line.ends_with(':'));
        let examples: Vec<&str> = examples.collect();
        assert!(examples.len() > 1, "{command} --help has no examples:\n{help}");
        pages.push((format!("{command} --help"), format!("```sh\n{}\n```\n", examples.join("\n"))));
    }
    pages
}

/// Runs the commands of a page; what went wrong, if anything did.
fn try_page(name: &str, text: &str) -> Option<String> {
    let blocks = blocks(text);
    if let Some(block) = blocks.iter().find(|block| block.commands().is_none() && !OTHERS.contains(&block.language)) {
        return Some(format!(
            "{name}:{}: a block of the language {:?}: commands are sh or console",
            block.line, block.language
        ));
    }
    if blocks.iter().all(|block| block.commands().is_none() || block.reason().is_some()) {
        return None;
    }
    let place = Place::new();
    for block in &blocks {
        if let (Some((file, text)), None) = (block.file(), block.commands()) {
            place.lab.file(file, &place.shortened(text));
        }
    }
    let mut servers = Vec::new();
    let wrong = blocks.iter().find_map(|block| place.run(block, &mut servers).err().map(|why| (block.line, why)));
    for mut server in servers {
        let _ = server.kill();
        let _ = server.wait();
    }
    wrong.map(|(line, why)| format!("{name}:{line}: {why}"))
}

/// Where the commands of a page run: a folder with its files, and a server.
struct Place {
    lab: Lab,
    server: Server,
}

impl Place {
    fn new() -> Place {
        let lab = Lab::new();
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let config = ServerConfig { tcp: vec![any], tls: vec![any], ..ServerConfig::default() };
        let place = Place { lab, server: Server::start(config).expect("a target") };
        for name in ["script.js", "old.js", "new.js"] {
            place.lab.file(name, &place.shortened(SCRIPT));
        }
        place.lab.file("item.json", "{\"name\": \"bolt\"}");
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        std::os::unix::fs::symlink(examples, place.lab.path().join("examples")).expect("a link to the examples");
        std::fs::create_dir(place.lab.path().join("bin")).expect("a folder for the wrapper");
        let wrapper = place.lab.file("bin/onrush", WRAPPER);
        std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).expect("the wrapper can be run");
        place
    }

    /// With the server's addresses, and with short times.
    fn shortened(&self, text: &str) -> String {
        let (plain, tls) = (self.server.addresses().tcp[0], self.server.addresses().tls[0]);
        let text = text
            .replace("localhost:8080", &plain.to_string())
            .replace("https://test.example", &format!("https://{tls}"));
        let text = ["'10s'", "'30s'", "'1m'"].iter().fold(text, |text, time| text.replace(time, "'1s'"));
        // Of a matrix a round or two: six prove more, but not to this test.
        let matrix =
            [("warm_up = \"1s\"", "warm_up = \"100ms\""), ("rounds = 6", "rounds = 1"), ("--rounds 7", "--rounds 2")];
        matrix.iter().fold(text, |text, (long, short)| text.replace(long, short))
    }

    /// A line of a command, made so that it takes a second.
    fn line(&self, line: &str) -> String {
        let line = self.shortened(line);
        let words = line.split(' ').map(|word| if ["10s", "30s", "1m"].contains(&word) { "1s" } else { word });
        let line = words.collect::<Vec<_>>().join(" ");
        if is_url(&line) {
            // The server's certificate is its own.
            let (command, comment) = line.split_once("   #").unwrap_or((&line, ""));
            let has_length = [" -d 1s", " -n ", " --duration ", " --requests "].iter().any(|flag| line.contains(flag));
            let length = if has_length { "" } else { " --duration 1s" };
            let (command, rest) =
                command.split_once(" > ").map_or((command, String::new()), |(c, r)| (c, format!(" > {r}")));
            return format!("{}{length}{rest}   #{comment}", with_flag(command.trim_end(), "--insecure"));
        }
        let is_example = line.contains("examples/") && line.contains(" run ");
        if is_example { line.replacen(" run ", " run -e DURATION=1s ", 1) } else { line }
    }

    fn run(&self, block: &Block<'_>, servers: &mut Vec<Child>) -> Result<(), String> {
        let Some(commands) = block.commands() else { return Ok(()) };
        match block.reason() {
            Some("") => return Err("this block does not say why it is not tested".to_owned()),
            Some(_) => return Ok(()),
            None => {}
        }
        if let Some(line) = commands.lines().find(|line| line.starts_with("onrush serve")) {
            servers.push(self.serve(line)?);
            return Ok(());
        }
        let lines: Vec<String> = commands.lines().map(|line| self.line(line)).collect();
        let (code, told) = self.finish(&lines.join("\n"))?;
        let shown = || format!("\n{}\n{told}", lines.join("\n"));
        if code != block.exit_code() {
            return Err(format!("exit code {code}, expected {}{}", block.exit_code(), shown()));
        }
        let urls = lines.iter().filter(|line| is_url(line) && !line.contains("--show-script")).count();
        let answered = told.matches("by status: 200: ").count();
        if code == 0 && answered < urls {
            return Err(format!("{answered} of {urls} commands were answered by 200{}", shown()));
        }
        let missing: Vec<&str> = block.words().filter(|word| !told.contains(word)).collect();
        if !missing.is_empty() {
            return Err(format!("the output has no {missing:?}{}", shown()));
        }
        Ok(())
    }

    /// A server that the reader leaves running in another terminal; it listens elsewhere, since the page's address is
    /// taken.
    fn serve(&self, line: &str) -> Result<Child, String> {
        let told = self.lab.path().join(format!("serve-{}", line.len()));
        let log = File::create(&told).expect("a file for the server's words");
        let mut words = line.split(" #").next().unwrap_or_default().split_whitespace().skip(2).collect::<Vec<_>>();
        if !words.contains(&"--listen") {
            words.extend(["--listen", "tcp://127.0.0.1:0"]);
        }
        let arguments: Vec<&str> = std::iter::once("serve").chain(words).collect();
        let mut command = self.lab.command(&arguments);
        let mut child = command.stdout(log.try_clone().expect("the file")).stderr(log).spawn().expect("onrush starts");
        let end = Instant::now() + PATIENCE;
        loop {
            let said = std::fs::read_to_string(&told).unwrap_or_default();
            if said.contains("listening on") {
                return Ok(child);
            }
            let is_over = child.try_wait().expect("a child of ours").is_some();
            if is_over || Instant::now() > end {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{line}: no server\n{said}"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Runs lines in a shell: exit code and everything said.
    fn finish(&self, lines: &str) -> Result<(i32, String), String> {
        let told = self.lab.path().join("told");
        let log = File::create(&told).expect("a file for what is said");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("bash");
        shell.args(["-euo", "pipefail", "-c", lines]).current_dir(self.lab.path()).stdin(std::process::Stdio::null());
        shell.env("PATH", format!("{}:{path}", self.lab.path().join("bin").display()));
        shell.env("ONRUSH", crate::lab::binary()).env("XDG_CONFIG_HOME", self.lab.path());
        shell.stdout(log.try_clone().expect("the file")).stderr(log).process_group(0);
        let mut child = shell.spawn().expect("bash starts");
        let said = || std::fs::read_to_string(&told).unwrap_or_default();
        let end = Instant::now() + PATIENCE;
        loop {
            match child.try_wait().expect("a child of ours") {
                Some(status) => return Ok((status.code().unwrap_or(-1), said())),
                None if Instant::now() > end => {
                    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
                    let _ = child.wait();
                    return Err(format!("hangs\n{lines}\n{}", said()));
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

/// Whether a line runs a test of a URL.
fn is_url(line: &str) -> bool {
    let is_run = ["onrush run ", "onrush curl ", "onrush http", "onrush -"].iter().any(|start| line.starts_with(start));
    let command = line.split("   #").next().unwrap_or_default();
    is_run && command.contains("127.0.0.1:") && !command.contains(".js") || is_run && command.contains("--show-script")
}

/// With a flag behind the name of the command.
fn with_flag(line: &str, flag: &str) -> String {
    match line.split_once(' ') {
        Some((onrush, rest)) => match rest.split_once(' ') {
            Some((name @ ("run" | "curl"), rest)) => format!("{onrush} {name} {flag} {rest}"),
            _ => format!("{onrush} {flag} {rest}"),
        },
        None => line.to_owned(),
    }
}
