//! A control plane of one machine on ports that were free, and kubectl for it.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::daemon::Daemon;

/// The control plane is up within this time, and what Jobs do happens; Pods of a lost node take it a minute.
pub(super) const PATIENCE: Duration = Duration::from_secs(150);
const TOKEN: &str = "admin-token";

/// A running control plane, less what runs Pods.
pub(super) struct Cluster {
    /// Where logs and files of Pods are.
    pub(super) folder: PathBuf,
    programs: PathBuf,
    _parts: Vec<Daemon>,
}

impl Cluster {
    /// Starts etcd, the API server and the controllers of Jobs and Pods.
    pub(super) fn start(programs: &Path, folder: &Path) -> Result<Cluster, String> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let [api, store, peers, controllers] = free_ports()?;
        write_files(folder, api)?;
        let at = |name: &str| folder.join(name).display().to_string();
        let mut cluster = Cluster { folder: folder.to_owned(), programs: programs.to_owned(), _parts: Vec::new() };
        let (store, peers) = (format!("http://127.0.0.1:{store}"), format!("http://127.0.0.1:{peers}"));
        let cluster_of_one = format!("default={peers}");
        cluster.part(
            "etcd",
            &[
                ("data-dir", &at("etcd")),
                ("unsafe-no-fsync", "true"),
                ("log-level", "warn"),
                ("listen-client-urls", &store),
                ("advertise-client-urls", &store),
                ("listen-peer-urls", &peers),
                ("initial-advertise-peer-urls", &peers),
                ("initial-cluster", &cluster_of_one),
            ],
        )?;
        cluster.part(
            "kube-apiserver",
            &[
                ("etcd-servers", &store),
                ("bind-address", "127.0.0.1"),
                ("advertise-address", "127.0.0.1"),
                ("endpoint-reconciler-type", "none"),
                ("secure-port", &api.to_string()),
                ("cert-dir", &at("certificates")),
                ("token-auth-file", &at("tokens.csv")),
                ("authorization-mode", "AlwaysAllow"),
                ("service-account-issuer", "https://kubernetes.default.svc"),
                ("service-account-key-file", &at("accounts.pub")),
                ("service-account-signing-key-file", &at("accounts.key")),
                ("service-cluster-ip-range", "10.96.0.0/24"),
                ("disable-admission-plugins", "ServiceAccount"),
            ],
        )?;
        cluster.until("the API server", || cluster.kubectl(&["get", "--raw", "/readyz"], "").is_ok())?;
        cluster.until("a namespace", || cluster.kubectl(&["get", "namespace", "default"], "").is_ok())?;
        cluster.part(
            "kube-controller-manager",
            &[
                ("kubeconfig", &at("kubeconfig")),
                ("cert-dir", &at("certificates")),
                ("leader-elect", "false"),
                ("bind-address", "127.0.0.1"),
                ("secure-port", &controllers.to_string()),
                ("controllers", "job,ttl-after-finished,garbagecollector,podgc,namespace"),
            ],
        )?;
        Ok(cluster)
    }

    fn part(&mut self, program: &str, flags: &[(&str, &str)]) -> Result<(), String> {
        let mut command = Command::new(self.programs.join(program));
        command.args(flags.iter().map(|(name, value)| format!("--{name}={value}")));
        self._parts.push(Daemon::start(command, &self.folder.join(format!("{program}.log")))?);
        Ok(())
    }

    /// kubectl, with this on its standard input; what it prints.
    pub(super) fn kubectl(&self, arguments: &[&str], input: &str) -> Result<String, String> {
        let mut command = Command::new(self.programs.join("kubectl"));
        command.arg(format!("--kubeconfig={}", self.folder.join("kubeconfig").display())).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |error: std::io::Error| format!("kubectl: {error}");
        let mut child = command.spawn().map_err(failed)?;
        let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().map_err(failed)?;
        match output.status.success() {
            true => written.map_err(failed).map(|()| String::from_utf8_lossy(&output.stdout).into_owned()),
            false => {
                Err(format!("kubectl {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
            }
        }
    }

    /// An object, or a list of them.
    pub(super) fn get(&self, what: &[&str]) -> Result<Value, String> {
        let text = self.kubectl(&[&["get", "-o", "json"], what].concat(), "")?;
        serde_json::from_str(&text).map_err(|error| format!("kubectl get {}: {error}", what.join(" ")))
    }

    /// Waits until something holds.
    pub(super) fn until(&self, what: &str, mut holds: impl FnMut() -> bool) -> Result<(), String> {
        let end = Instant::now() + PATIENCE;
        while !holds() {
            if Instant::now() > end {
                return Err(format!(
                    "{what} did not come within {PATIENCE:?}; see the logs in {}",
                    self.folder.display()
                ));
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }
}

fn free_ports() -> Result<[u16; 4], String> {
    let listeners: Vec<TcpListener> = (0..4).filter_map(|_| TcpListener::bind(("127.0.0.1", 0)).ok()).collect();
    let ports: Vec<u16> = listeners.iter().filter_map(|l| Some(l.local_addr().ok()?.port())).collect();
    ports.try_into().map_err(|_| String::from("there are no free ports"))
}

/// A token that may do everything, a key for the tokens of accounts, and the way there. Loopback alone is listened on,
/// and the API server makes its own certificate.
fn write_files(folder: &Path, port: u16) -> Result<(), String> {
    let key = rcgen::KeyPair::generate().map_err(|error| format!("no key: {error}"))?;
    let config = serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{ "name": "here", "cluster": {
            "server": format!("https://127.0.0.1:{port}"), "insecure-skip-tls-verify": true } }],
        "users": [{ "name": "admin", "user": { "token": TOKEN } }],
        "contexts": [{ "name": "here", "context": { "cluster": "here", "user": "admin" } }],
    });
    let files = [
        ("accounts.key", key.serialize_pem()),
        ("accounts.pub", key.public_key_pem()),
        ("tokens.csv", format!("{TOKEN},admin,admin,system:masters\n")),
        ("kubeconfig", config.to_string()),
    ];
    let written = files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text));
    written.map_err(|error| format!("{}: {error}", folder.display()))
}
