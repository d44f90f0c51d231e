//! Tries an image out: reads the layout back, holds each blob against its digest, unpacks the layers and runs commands
//! in them under `chroot`, as the image's user, with nothing else of this machine.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::layout::digest;

const SCRIPT: &str = "import { check } from 'k6';
export const options = { vus: 2, iterations: 4, thresholds: { checks: ['rate==1'] } };
export default function () { check(__VU, { 'there is a user': (vu) => vu > 0 }); }
";

/// Every command that has to succeed, and what it has to print.
const COMMANDS: [(&[&str], &str); 3] = [
    (&["onrush", "version"], "onrush v"),
    (&["k6", "version"], "k6 v2."),
    (&["k6", "run", "--quiet", "/tmp/script.js"], "checks_succeeded"),
];

/// What the initializer of k6's operator does.
const INITIALIZER: &str = "mkdir -p $(dirname /tmp/t/a.tar) && \
     k6 archive /tmp/script.js -O /tmp/t/a.tar 2> /tmp/logs && \
     k6 inspect --execution-requirements /tmp/t/a.tar 2> /tmp/logs ; ! cat /tmp/logs | grep 'level=error'";

/// Fails with the first thing that is wrong.
pub(super) fn run(layout: &Path, has_shell: bool) -> Result<(), String> {
    let folder = layout.with_extension("unpacked");
    let _none = fs::remove_dir_all(&folder);
    let config = unpack(layout, &folder)?;
    fs::write(folder.join("tmp/script.js"), SCRIPT).map_err(|error| error.to_string())?;
    for (command, expected) in COMMANDS {
        expect(&folder, &config, command, expected)?;
    }
    if has_shell {
        expect(&folder, &config, &["sh", "-c", INITIALIZER], "\"maxVUs\": 2")?;
    }
    fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))
}

/// Unpacks the only image of a layout; its configuration.
fn unpack(layout: &Path, folder: &Path) -> Result<Value, String> {
    let index = fs::read(layout.join("index.json")).map_err(|error| format!("index.json: {error}"))?;
    let index: Value = serde_json::from_slice(&index).map_err(|error| format!("index.json: {error}"))?;
    let manifest = document(layout, &index["manifests"][0])?;
    let config = document(layout, &manifest["config"])?;
    let diff_ids = config["rootfs"]["diff_ids"].as_array().into_iter().flatten();
    let layers = manifest["layers"].as_array().into_iter().flatten();
    for (layer, diff_id) in layers.zip(diff_ids) {
        let mut archive = Vec::new();
        let packed = blob(layout, layer)?;
        let read = flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut archive);
        read.map_err(|error| format!("a layer: {error}"))?;
        if *diff_id != digest(&archive) {
            return Err(format!("a layer is not {diff_id}"));
        }
        let mut archive = tar::Archive::new(archive.as_slice());
        archive.set_preserve_permissions(true);
        archive.set_preserve_ownerships(is_root());
        archive.unpack(folder).map_err(|error| format!("cannot unpack a layer: {error}"))?;
    }
    Ok(config["config"].clone())
}

fn document(layout: &Path, descriptor: &Value) -> Result<Value, String> {
    serde_json::from_slice(&blob(layout, descriptor)?).map_err(|error| format!("{descriptor}: {error}"))
}

fn blob(layout: &Path, descriptor: &Value) -> Result<Vec<u8>, String> {
    let name = descriptor["digest"].as_str().unwrap_or_default();
    let path = layout.join("blobs").join(name.replace(':', "/"));
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let is_whole = digest(&bytes) == name && descriptor["size"] == bytes.len();
    is_whole.then_some(bytes).ok_or_else(|| format!("{} is not what its name says", path.display()))
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Runs a command of the image; as its user where this process may become another one, else as the root of a namespace.
fn expect(folder: &Path, config: &Value, command: &[&str], expected: &str) -> Result<(), String> {
    let mut run = match is_root() {
        true => {
            let mut run = Command::new("chroot");
            run.arg(format!("--userspec={}", config["User"].as_str().unwrap_or_default()));
            run
        }
        false => {
            let mut run = Command::new("unshare");
            run.args(["--map-root-user", "chroot"]);
            run
        }
    };
    run.arg(folder).args(command).env_clear();
    let variables = config["Env"].as_array().into_iter().flatten().filter_map(Value::as_str);
    // chroot itself is looked for with these too, and is often there.
    let sbin = [("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")];
    run.envs(variables.filter_map(|variable| variable.split_once('=')).chain(sbin));
    let output = run.output().map_err(|error| format!("cannot run chroot or unshare: {error}"))?;
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let name = command.join(" ");
    if !output.status.success() || !out.contains(expected) {
        return Err(format!("{name}: {}, expected {expected:?}\n{out}{err}", output.status));
    }
    println!("{name}: {}", out.lines().find(|line| line.contains(expected)).unwrap_or_default().trim());
    Ok(())
}
