//! Redis: `redis-server` alone, behind a sentinel, and as a cluster.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::suite::{Process, Suite, free_port, is_installed, start};

/// One server, a cluster of three, and a sentinel with its master.
pub(super) fn cases(suite: &Suite) -> Result<(), String> {
    if !is_installed("redis-server") {
        println!("redis: skipped: there is no redis-server");
        return Ok(());
    }
    let serve = |name: &str, more: &[&str]| -> Result<(Process, u16), String> {
        let port = free_port()?;
        let text = port.to_string();
        let arguments = [&["--port", &text, "--bind", "127.0.0.1", "--save", ""], more].concat();
        Ok((start("redis-server", &arguments, &suite.fresh(name)?, port)?, port))
    };
    let (_single, port) = serve("redis", &[])?;
    suite.script(
        "redis",
        "one server",
        &[&format!("REDIS={{\"socket\":{{\"host\":\"127.0.0.1\",\"port\":{port}}}}}")],
    )?;
    let config = suite.fresh("sentinel")?.join("sentinel.conf");
    let text = format!("sentinel monitor main 127.0.0.1 {port} 1\n");
    fs::write(&config, text).map_err(|error| format!("cannot write {}: {error}", config.display()))?;
    let at = free_port()?;
    let folder = config.parent().unwrap_or(&suite.folder);
    let arguments = ["sentinel.conf", "--sentinel", "--port", &at.to_string()];
    let _sentinel = start("redis-server", &arguments, folder, at)?;
    let options = format!("{{\"socket\":{{\"host\":\"127.0.0.1\",\"port\":{at}}},\"masterName\":\"main\"}}");
    suite.script("redis", "a sentinel", &[&format!("REDIS={options}")])?;
    let mut nodes = Vec::new();
    for number in 0..3 {
        nodes.push(serve(&format!("cluster{number}"), &["--cluster-enabled", "yes"])?);
    }
    let places: Vec<String> = nodes.iter().map(|(_, port)| format!("127.0.0.1:{port}")).collect();
    let mut create = Command::new("redis-cli");
    create.args(["--cluster", "create"]).args(&places).arg("--cluster-yes").stdout(Stdio::null());
    let created = create.status().map_err(|error| format!("cannot run redis-cli: {error}"))?;
    if !created.success() {
        return Err(format!("redis-cli --cluster create: {created}"));
    }
    // Each node learns of the others by gossip.
    thread::sleep(Duration::from_secs(3));
    let seeds = places.iter().map(|place| format!("\"redis://{place}\"")).collect::<Vec<_>>().join(",");
    suite.script("redis", "a cluster", &[&format!("REDIS={{\"cluster\":{{\"nodes\":[{seeds}]}}}}")])
}
