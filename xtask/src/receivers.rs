//! Receivers for `cargo xtask outputs` that are the programs themselves, built from the module proxy: Prometheus with
//! its receiver of remote write switched on, and InfluxDB 1. Each gets an empty store and a free port.
//!
//! Prometheus is built without its discovery of services, which nothing here needs and which takes longest. Of InfluxDB
//! it is 1.8, because later ones need a library of Rust that Go's modules do not bring along.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::go;

const PROMETHEUS: &str = "github.com/prometheus/prometheus/cmd/prometheus";
const OF_PROMETHEUS: [(&str, &str); 3] = [
    ("go.mod", include_str!("../outputs/prometheus.mod")),
    ("tools.go", "//go:build tools\n\npackage tools\n\nimport _ \"github.com/prometheus/prometheus/cmd/prometheus\"\n"),
    ("prometheus.yml", "global:\n  scrape_interval: 1h\n"),
];
const INFLUXD: &str = "github.com/influxdata/influxdb/cmd/influxd";
const OF_INFLUXD: [(&str, &str); 2] = [
    ("go.mod", include_str!("../outputs/influxdb.mod")),
    ("tools.go", "//go:build tools\n\npackage tools\n\nimport _ \"github.com/influxdata/influxdb/cmd/influxd\"\n"),
];

/// A receiver that serves until it is dropped.
pub(crate) struct Receiver {
    process: Child,
    /// `host:port`.
    pub(crate) address: String,
}

/// Builds and starts Prometheus. Nothing when there is no go command.
pub(crate) fn prometheus(folder: &Path) -> Result<Option<Receiver>, String> {
    let Some(program) = go::build_with(folder, PROMETHEUS, "prometheus", &OF_PROMETHEUS, &["remove_all_sd"])? else {
        return Ok(None);
    };
    let address = free_address()?;
    let store = emptied(&folder.join("store"))?;
    let mut command = Command::new(&program);
    command.arg(format!("--config.file={}", folder.join("prometheus.yml").display()));
    command.arg(format!("--storage.tsdb.path={store}")).arg(format!("--web.listen-address={address}"));
    command.args(["--web.enable-remote-write-receiver", "--log.level=error"]);
    Receiver::start(command, address, "/-/ready").map(Some)
}

/// Builds and starts InfluxDB. Nothing when there is no go command.
pub(crate) fn influxdb(folder: &Path) -> Result<Option<Receiver>, String> {
    let Some(program) = go::build_with(folder, INFLUXD, "influxd", &OF_INFLUXD, &[])? else { return Ok(None) };
    let (address, inner) = (free_address()?, free_address()?);
    let store = emptied(&folder.join("store"))?;
    let config = format!(
        "reporting-disabled = true\nbind-address = {inner:?}\n[meta]\n  dir = \"{store}/meta\"\n[data]\n  \
         dir = \"{store}/data\"\n  wal-dir = \"{store}/wal\"\n[http]\n  bind-address = {address:?}\n  \
         log-enabled = false\n[logging]\n  level = \"error\"\n  suppress-logo = true\n[monitor]\n  \
         store-enabled = false\n"
    );
    let path = folder.join("influxdb.conf");
    std::fs::write(&path, config).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut command = Command::new(&program);
    command.arg("-config").arg(&path).stderr(Stdio::null());
    Receiver::start(command, address, "/ping").map(Some)
}

impl Receiver {
    /// Waits until it answers this path well.
    fn start(mut command: Command, address: String, path: &str) -> Result<Receiver, String> {
        let shown = format!("{command:?}");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let process = command.spawn().map_err(|error| format!("cannot run {shown}: {error}"))?;
        let mut started = Receiver { process, address };
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            if let Ok(Some(status)) = started.process.try_wait() {
                return Err(format!("{shown} ended before it was ready: {status}"));
            }
            if is_ready(&started.address, path).unwrap_or(false) {
                return Ok(started);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("{shown} was not ready within a minute"))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A folder with nothing in it, as text.
fn emptied(folder: &Path) -> Result<String, String> {
    let _nothing_is_there_the_first_time = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder.display().to_string())
}

fn free_address() -> Result<String, String> {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    address.map(|address| address.to_string()).map_err(|error| format!("no port for a receiver: {error}"))
}

fn is_ready(address: &str, path: &str) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.split(' ').nth(1).is_some_and(|status| status.starts_with('2')))
}
