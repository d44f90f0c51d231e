//! MQTT: mosquitto, plain and over TLS, with passwords, over WebSockets, and one that goes away and comes back.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::suite::{Process, Suite, certificate, free_port, start};

/// Where Debian has it; not in everybody's path.
const PROGRAMS: [&str; 2] = ["/usr/sbin/mosquitto", "/usr/bin/mosquitto"];

/// The whole script against one broker, and a part of it against one that restarts.
pub(super) fn cases(suite: &Suite) -> Result<(), String> {
    let Some(program) = PROGRAMS.into_iter().find(|program| Path::new(program).exists()) else {
        println!("mqtt: skipped: there is no mosquitto");
        return Ok(());
    };
    let folder = suite.fresh("mosquitto")?;
    certificate(&folder)?;
    let mut passwords = Command::new("mosquitto_passwd");
    passwords.args(["-b", "-c", "passwords", "ann", "secret"]).current_dir(&folder).stderr(Stdio::null());
    let made = passwords.status().map_err(|error| format!("cannot run mosquitto_passwd: {error}"))?;
    if !made.success() {
        return Err(format!("mosquitto_passwd: {made}"));
    }
    let ports = (0..6).map(|_| free_port()).collect::<Result<Vec<u16>, _>>()?;
    let [plain, secret, tls, socket, secure_socket, nobody] = ports[..] else { return Err(String::from("six ports")) };
    let keys = "certfile cert.pem\nkeyfile key.pem\n";
    let open = "allow_anonymous true\n";
    let config = format!(
        "per_listener_settings true\npersistence false\nlistener {plain} 127.0.0.1\n{open}\
         listener {secret} 127.0.0.1\nallow_anonymous false\npassword_file passwords\n\
         listener {tls} 127.0.0.1\n{open}{keys}listener {socket} 127.0.0.1\nprotocol websockets\n{open}\
         listener {secure_socket} 127.0.0.1\nprotocol websockets\n{open}{keys}"
    );
    let _broker = serve(program, &folder, &config, plain)?;
    let trust = [("SSL_CERT_FILE", folder.join("cert.pem").display().to_string())];
    let addresses = format!(
        "MQTT={{\"plain\":\"mqtt://127.0.0.1:{plain}\",\"password\":\"mqtt://127.0.0.1:{secret}\",\
         \"tls\":\"mqtts://localhost:{tls}\",\"socket\":\"ws://127.0.0.1:{socket}/mqtt\",\
         \"secureSocket\":\"wss://localhost:{secure_socket}/mqtt\",\"nobody\":\"mqtt://127.0.0.1:{nobody}\",\
         \"thresholds\":{{\"mqtt_message_sent\":[\"count==544\"],\"mqtt_errors{{method:publish}}\":[\"count==2\"]}}}}"
    );
    suite.script_with("mqtt", "one broker", &[&addresses], &trust)?;
    let untrusted = format!("MQTT={{\"untrusted\":\"mqtts://localhost:{tls}\"}}");
    suite.script("mqtt", "an unknown authority", &[&untrusted])?;
    restarts(suite, program)
}

/// The broker goes away and comes back while the script runs.
fn restarts(suite: &Suite, program: &'static str) -> Result<(), String> {
    let port = free_port()?;
    let folder = suite.fresh("mosquitto-again")?;
    let config = format!("listener {port} 127.0.0.1\nallow_anonymous true\n");
    let first = serve(program, &folder, &config, port)?;
    let restarted = thread::spawn(move || {
        thread::sleep(Duration::from_secs(2));
        drop(first);
        thread::sleep(Duration::from_secs(2));
        serve(program, &folder, &config, port)
    });
    let outcome = suite.script("mqtt", "a restart", &[&format!("MQTT={{\"restarts\":\"127.0.0.1:{port}\"}}")]);
    let _second = restarted.join().map_err(|_| String::from("the broker's thread panicked"))??;
    outcome
}

fn serve(program: &str, folder: &Path, config: &str, port: u16) -> Result<Process, String> {
    // Started by root it would go on as a user who may not read the key; where there is no choice, it ignores this.
    let config = format!("user root\n{config}");
    fs::write(folder.join("mosquitto.conf"), config)
        .map_err(|error| format!("cannot write mosquitto.conf: {error}"))?;
    start(program, &["-c", "mosquitto.conf"], folder, port)
}
