//! The examples of README, docs and help run as they are written, on the built-in server: it answers each of them with 200.
//!
//! Only what no test can have is replaced: names of hosts by the server's addresses, and lengths by a second.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use server::{Server, ServerConfig};

use crate::lab::Lab;

/// Lines of a text that run a test of a URL, without comments.
fn examples(text: &str) -> Vec<String> {
    let command =
        |line: &&str| ["onrush run ", "onrush curl ", "onrush http"].iter().any(|start| line.starts_with(start));
    let lines = text.lines().map(str::trim).filter(command);
    let lines = lines.map(|line| line.split("  #").next().unwrap_or_default().trim().to_owned());
    let is_url =
        |line: &String| (line.contains("localhost") || line.contains("test.example")) && !line.ends_with(".js");
    lines.filter(is_url).collect()
}

fn runnable(line: &str, server: &Server) -> String {
    let (plain, tls) = (server.addresses().tcp[0], server.addresses().tls[0]);
    let line =
        line.replace("localhost:8080", &plain.to_string()).replace("https://test.example", &format!("https://{tls}"));
    // The server's certificate is its own.
    let line =
        line.replacen("onrush curl", "onrush curl --insecure", 1).replacen("onrush run", "onrush run --insecure", 1);
    let line = ["30s", "1m"].iter().fold(line, |line, time| line.replace(time, "1s"));
    let has_length = [" -d ", " -n ", " --duration ", " --requests "].iter().any(|flag| line.contains(flag));
    if has_length { line } else { format!("{line} --duration 1s") }
}

#[test]
fn every_example_is_answered() {
    let lab = Lab::new();
    lab.file("item.json", "{\"name\": \"bolt\"}");
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = ServerConfig { tcp: vec![any], tls: vec![any], ..ServerConfig::default() };
    let server = Server::start(config).expect("a target");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file =
        |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let help = |command: &str| lab.onrush(&[command, "--help"]).code(0).stdout;
    for (name, text) in [
        ("README.md", file("README.md")),
        ("docs/guides/quick.md", file("docs/guides/quick.md")),
        ("docs/coming-from/k6.md", file("docs/coming-from/k6.md")),
        ("run --help", help("run")),
        ("curl --help", help("curl")),
    ] {
        let examples = examples(&text);
        assert!(!examples.is_empty(), "{name} has no example that this test knows");
        for example in examples {
            let line = runnable(&example, &server);
            let line = line.replacen("onrush", env!("CARGO_BIN_EXE_onrush"), 1);
            let mut shell = std::process::Command::new("bash");
            shell.args(["-c", &line]).current_dir(lab.path()).env("XDG_CONFIG_HOME", lab.path());
            let run = crate::lab::finish(shell);
            // On a busy machine the limit on time in an example may not hold.
            let is_late = run.code == 99 && run.stderr.contains("thresholds on metrics 'http_req_duration'");
            assert!(run.code == 0 || is_late, "{name}: {example}\n{}\n{}", run.stdout, run.stderr);
            assert!(run.stdout.contains("by status: 200: "), "{name}: {example}\n{}", run.stdout);
        }
    }
}
