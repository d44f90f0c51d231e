//! A converted script that is run where nothing of its world is: its hosts, its files, its variables.
//!
//! Also read by `cargo xtask convert public`. Requests go to a proxy, which is asked for `http` and for names that are
//! not of this machine; files are made as the script opens them; a variable without a value is an address.

use std::path::Path;
use std::process::Command;

/// Changes the addresses of a script, and makes the files that it opens.
pub fn prepare(script: &str, folder: &Path) -> std::io::Result<String> {
    let script = script.replace("https://", "http://").replace("//localhost", "//server.test");
    let script = script.replace("//127.0.0.1", "//server.test").replace("open('/", "open('./");
    // Libraries come along with the program, by this name alone.
    let script = script.replace("http://jslib.k6.io/", "https://jslib.k6.io/");
    for rest in script.split("open('").skip(1) {
        let path = folder.join(rest.split('\'').next().unwrap_or_default());
        if let Some(parent) = path.parent().filter(|_| !path.exists()) {
            std::fs::create_dir_all(parent)?;
            std::fs::write(&path, "a file")?;
        }
    }
    Ok(script)
}

/// Sends requests of a run to a proxy, and gives every variable that the script asks for a value.
pub fn aim(command: &mut Command, script: &str, proxy: &str) {
    command.env("HTTP_PROXY", format!("http://{proxy}")).env_remove("NO_PROXY").env_remove("no_proxy");
    for rest in script.split("__ENV").skip(1) {
        let (name, behind) = match rest.strip_prefix("['").and_then(|rest| rest.split_once("']")) {
            Some(found) => found,
            None => {
                let bare = rest.trim_start_matches('.');
                let end = bare.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$');
                bare.split_at(end.unwrap_or(bare.len()))
            }
        };
        let has_value = behind.trim_start().starts_with("||") && !behind.trim_start().starts_with("|| ''");
        if !name.is_empty() && !has_value {
            command.env(name, "http://server.test");
        }
    }
}
