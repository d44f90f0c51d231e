//! What runs Pods: a scheduler, two nodes and their kubelets in a few lines. A container is its command as a process of
//! this machine. Where a flag names a mounted path, the folder with the files of the Secret takes its place.

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use serde_json::{Value, json};

use super::cluster::Cluster;
use crate::daemon::Daemon;

pub(super) const NODES: [&str; 2] = ["node-a", "node-b"];

/// The nodes and what runs on them.
pub(super) struct Nodes<'a> {
    cluster: &'a Cluster,
    onrush: &'a Path,
    pods: HashMap<String, Pod>,
    /// Pods of this component are not placed yet.
    pub(super) held: Option<&'static str>,
    live: Vec<&'static str>,
    turn: usize,
}

/// A Pod that was started.
struct Pod {
    name: String,
    index: Option<String>,
    node: String,
    process: Daemon,
    is_over: bool,
}

impl<'a> Nodes<'a> {
    /// Without Pods.
    pub(super) fn new(cluster: &'a Cluster, onrush: &'a Path) -> Result<Nodes<'a>, String> {
        for name in NODES {
            let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } });
            cluster.kubectl(&["apply", "--server-side", "-f", "-"], &node.to_string())?;
        }
        Ok(Nodes { cluster, onrush, pods: HashMap::new(), held: None, live: NODES.to_vec(), turn: 0 })
    }

    /// Does once what scheduler and kubelets do all the time.
    pub(super) fn look(&mut self) -> Result<(), String> {
        let all = self.cluster.get(&["pods"])?;
        for pod in all["items"].as_array().into_iter().flatten() {
            let uid = text(&pod["metadata"]["uid"]);
            if pod["metadata"]["deletionTimestamp"].is_string() {
                self.delete(&uid, pod)?;
            } else if pod["status"]["phase"] == "Pending" && !self.pods.contains_key(&uid) {
                self.place(&uid, pod)?;
            }
        }
        self.report()
    }

    fn place(&mut self, uid: &str, pod: &Value) -> Result<(), String> {
        let component = text(&pod["metadata"]["labels"]["app.kubernetes.io/component"]);
        if self.held.is_some_and(|held| held == component) {
            return Ok(());
        }
        let (name, node) = (text(&pod["metadata"]["name"]), self.live[self.turn % self.live.len()]);
        self.turn += 1;
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": { "name": name },
            "target": { "apiVersion": "v1", "kind": "Node", "name": node },
        });
        let path = format!("/api/v1/namespaces/default/pods/{name}/binding");
        self.cluster.kubectl(&["create", "--raw", &path, "-f", "-"], &binding.to_string())?;
        let process = self.start(&name, pod)?;
        let index = pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"].as_str().map(str::to_owned);
        self.set_status(&name, &json!({ "phase": "Running", "podIP": "127.0.0.1" }));
        let started = Pod { name, index, node: node.to_owned(), process, is_over: false };
        self.pods.insert(uid.to_owned(), started);
        Ok(())
    }

    fn start(&self, name: &str, pod: &Value) -> Result<Daemon, String> {
        let container = &pod["spec"]["containers"][0];
        let mounts = self.mounts(name, pod)?;
        let words = container["command"].as_array().into_iter().flatten().map(text);
        let words: Vec<String> = words.map(|word| mounted(&word, &mounts)).collect();
        let program = words.first().filter(|program| *program == "onrush");
        program.ok_or_else(|| format!("{name} is not to run onrush but {words:?}"))?;
        let mut command = Command::new(self.onrush);
        command.args(&words[1..]).env_clear().current_dir(&self.cluster.folder).env("PATH", "/usr/bin:/bin");
        for variable in container["env"].as_array().into_iter().flatten() {
            let from = text(&variable["valueFrom"]["fieldRef"]["fieldPath"]);
            let label = from.strip_prefix("metadata.labels['").or(from.strip_prefix("metadata.annotations['"));
            let value = match label.and_then(|label| label.strip_suffix("']")) {
                Some(label) => {
                    let of = |kind: &str| pod["metadata"][kind][label].as_str().map(str::to_owned);
                    of("labels").or_else(|| of("annotations")).unwrap_or_default()
                }
                None => text(&variable["value"]),
            };
            command.env(text(&variable["name"]), value);
        }
        Daemon::start(command, &self.log(name))
    }

    /// Folders with the files of each Secret, by the paths at which the container sees them.
    fn mounts(&self, name: &str, pod: &Value) -> Result<Vec<(String, PathBuf)>, String> {
        let mut mounts = Vec::new();
        for volume in pod["spec"]["volumes"].as_array().into_iter().flatten() {
            // A claim outlives the Pods that use it.
            let folder = match volume["persistentVolumeClaim"]["claimName"].as_str() {
                Some(claim) => self.cluster.folder.join("claims").join(claim),
                None => self.cluster.folder.join("volumes").join(name).join(text(&volume["name"])),
            };
            fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            if let Some(secret) = volume["secret"]["secretName"].as_str() {
                let template = "{{range $k, $v := .data}}{{$k}} {{$v}}{{\"\\n\"}}{{end}}";
                let read =
                    self.cluster.kubectl(&["get", "secret", secret, "-o", &format!("go-template={template}")], "")?;
                for (file, data) in read.lines().filter_map(|line| line.split_once(' ')) {
                    let bytes = base64_simd::STANDARD.decode_to_vec(data).map_err(|error| error.to_string())?;
                    fs::write(folder.join(file), bytes).map_err(|error| error.to_string())?;
                }
            }
            let all = pod["spec"]["containers"][0]["volumeMounts"].as_array().into_iter().flatten();
            let here = all.filter(|mount| mount["name"] == volume["name"]);
            mounts.extend(here.map(|mount| (text(&mount["mountPath"]), folder.clone())));
        }
        Ok(mounts)
    }

    /// Tells the API server how processes have ended.
    fn report(&mut self) -> Result<(), String> {
        let mut ended = Vec::new();
        for pod in self.pods.values_mut().filter(|pod| !pod.is_over) {
            if let Some(status) = pod.process.ended() {
                pod.is_over = true;
                ended.push((pod.name.clone(), over(status)));
            }
        }
        ended.iter().for_each(|(name, status)| self.set_status(name, status));
        Ok(())
    }

    fn delete(&mut self, uid: &str, pod: &Value) -> Result<(), String> {
        let name = text(&pod["metadata"]["name"]);
        let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or(30);
        if let Some(mut started) = self.pods.remove(uid) {
            started.process.end(Duration::from_secs(grace));
            if let Some(status) = started.process.ended() {
                self.set_status(&name, &over(status));
            }
        }
        let _gone = self.cluster.kubectl(&["delete", "pod", &name, "--grace-period=0", "--force", "--wait=false"], "");
        Ok(())
    }

    /// The Pod may be gone meanwhile.
    fn set_status(&self, pod: &str, status: &Value) {
        let patch = json!({ "status": status }).to_string();
        let _gone =
            self.cluster.kubectl(&["patch", "pod", pod, "--subresource=status", "--type=merge", "-p", &patch], "");
    }

    /// Ends the process of an agent at once; its Pod's name.
    pub(super) fn kill_agent(&mut self, index: &str) -> Result<String, String> {
        let mut running = self.pods.values_mut().filter(|pod| !pod.is_over);
        let pod = running.find(|pod| pod.index.as_deref() == Some(index));
        let pod = pod.ok_or_else(|| format!("no agent {index} is running"))?;
        pod.process.signal("KILL");
        Ok(pod.name.clone())
    }

    /// Ends the process of the coordinator at once.
    pub(super) fn kill_coordinator(&mut self) -> Result<(), String> {
        let coordinator = self.pods.values().find(|pod| !pod.is_over && pod.index.is_none());
        coordinator.map(|pod| pod.process.signal("KILL")).ok_or_else(|| String::from("no coordinator is running"))
    }

    /// A node is gone with all that runs there, and its Pods are left to the controllers. How many there were.
    pub(super) fn crash(&mut self, node: &'static str) -> Result<usize, String> {
        let mut gone = 0;
        for pod in self.pods.values_mut().filter(|pod| !pod.is_over && pod.node == node) {
            pod.process.signal("KILL");
            pod.is_over = true;
            gone += 1;
        }
        self.live.retain(|live| *live != node);
        self.cluster.kubectl(&["delete", "node", node], "")?;
        Ok(gone)
    }

    /// How many agents' processes run.
    pub(super) fn agents(&mut self) -> usize {
        let agents = self.pods.values_mut().filter(|pod| pod.index.is_some() && !pod.is_over);
        agents.filter_map(|pod| pod.process.ended().is_none().then_some(())).count()
    }

    /// Where the output of a Pod is.
    pub(super) fn log(&self, pod: &str) -> PathBuf {
        self.cluster.folder.join(format!("{pod}.log"))
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A word of a command line whose path is in a volume.
fn mounted(word: &str, mounts: &[(String, PathBuf)]) -> String {
    let (at, path) = word.strip_prefix('@').map_or(("", word), |path| ("@", path));
    let inside = |(mount, folder): &(String, PathBuf)| {
        let rest = path.strip_prefix(mount.as_str())?.strip_prefix('/')?;
        Some(format!("{at}{}/{rest}", folder.display()))
    };
    mounts.iter().find_map(inside).unwrap_or_else(|| word.to_owned())
}

/// The status of a Pod whose process has ended.
fn over(status: ExitStatus) -> Value {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    let phase = if code == 0 { "Succeeded" } else { "Failed" };
    json!({
        "phase": phase,
        "containerStatuses": [{
            "name": "onrush", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "terminated": { "exitCode": code } },
        }],
    })
}
