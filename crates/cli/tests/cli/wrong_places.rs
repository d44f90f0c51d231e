//! Addresses, archives, secrets and certificates that cannot be: one clear message each, whole, before anything runs.

use std::process::Command;

use crate::lab::{Lab, finish};

/// A script that says when it runs.
const RAN: &str = "export default function () { console.log('it ran') }";

/// Ends with this code, says this alone, and does not run.
fn refuses(command: Command, code: i32, message: &str) {
    let run = finish(command).code(code);
    assert_eq!(run.stderr, format!("error: {message}\n"));
    assert!(run.stdout.is_empty(), "{}", run.stdout);
}

#[test]
fn an_address_of_an_output_that_is_wrong() {
    let lab = Lab::with(RAN);
    let url = "expected a URL that begins with http:// or https://";
    for (output, why) in [
        ("influxdb=nonsense", format!("found 'nonsense', {url}")),
        ("influxdb=udp://h:1/d", String::from("InfluxDB by UDP is not offered; use http://HOST:8086/DATABASE")),
        ("influxdb=http://h:99999/d", String::from("dial tcp: address 99999: invalid port")),
        ("experimental-prometheus-rw=ftp://h", format!("the URL: found 'ftp://h', {url}")),
        ("statsd=nowhere", String::from("the address: found 'nowhere', expected HOST:PORT: invalid socket address")),
        (
            "json=no/such/folder/x",
            String::from("cannot write 'no/such/folder/x': No such file or directory (os error 2)"),
        ),
    ] {
        refuses(lab.command(&["run", "-q", "--out", output, "script.js"]), 255, &format!("--out {output}: {why}"));
    }
}

#[test]
fn a_certificate_without_its_key() {
    let lab = Lab::with(RAN);
    let mut command = lab.command(&["run", "-q", "--out", "opentelemetry", "script.js"]);
    command.env("K6_OTEL_TLS_CLIENT_CERTIFICATE", "c.pem");
    let why = "K6_OTEL_TLS_CLIENT_CERTIFICATE: found no K6_OTEL_TLS_CLIENT_KEY, expected the file of its key";
    refuses(command, 255, &format!("--out opentelemetry: {why}"));
    let mut command = lab.command(&["run", "-q", "--out", "experimental-prometheus-rw", "script.js"]);
    command.env("K6_PROMETHEUS_RW_CLIENT_CERTIFICATE_KEY", "k.pem");
    let why = "K6_PROMETHEUS_RW_CLIENT_CERTIFICATE_KEY: found no K6_PROMETHEUS_RW_CLIENT_CERTIFICATE, expected its \
               certificate";
    refuses(command, 255, &format!("--out experimental-prometheus-rw: {why}"));
    let script = format!("export const options = {{ tlsAuth: [{{ cert: 'c' }}] }}\n{RAN}");
    let why =
        "options of the script: 'tlsAuth': expected a list of { domains, cert, key, password }: missing field `key`";
    refuses(Lab::with(&script).command(&["run", "-q", "script.js"]), 104, why);
}

#[test]
fn an_archive_that_is_none() {
    let lab = Lab::with(RAN);
    let write = |name: &str, bytes: &[u8]| std::fs::write(lab.path().join(name), bytes).expect("written");
    write("empty.tar", b"");
    write("random.tar", &(0..3000_u32).map(|at| ((at * at) >> 3) as u8).collect::<Vec<u8>>());
    let run = |name| lab.command(&["run", "-q", "--type", "archive", name]);
    let why = "it has no metadata.json, expected what `onrush archive` or `k6 archive` writes";
    refuses(run("empty.tar"), 255, &format!("the archive empty.tar: {why}"));
    let why = "it is damaged or was cut off; make it again with `onrush archive`";
    refuses(run("random.tar"), 255, &format!("the archive random.tar: {why}"));
}

#[test]
fn a_source_of_secrets_that_is_missing() {
    let lab = Lab::with(RAN);
    for (source, why) in [
        ("file=none.txt", "cannot read none.txt: No such file or directory (os error 2)"),
        ("vault=x", "'vault' is no type of secret source, expected file, env, url or mock"),
        ("url=urlTemplate=http://h/", "urlTemplate has no {key}, which stands for the secret's name"),
    ] {
        let command = lab.command(&["run", "-q", "--secret-source", source, "script.js"]);
        refuses(command, 255, &format!("--secret-source {source}: {why}"));
    }
}

#[test]
fn a_command_of_k6_that_is_not_offered() {
    let lab = Lab::with(RAN);
    let why = "there is no cloud here; run the test with `onrush run`, and send its samples with --out";
    let message = format!("the command 'cloud' of k6 is not offered: {why}");
    refuses(lab.command(&["cloud", "run", "--exit-on-running", "script.js"]), 255, &message);
}
