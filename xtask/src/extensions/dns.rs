//! Names: Debian's `named`, with a zone of its own, one whose file is missing, and a socket that says nothing.

use std::fs;
use std::net::{Ipv6Addr, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::suite::{PATIENCE, Suite, free_port, start};

/// Not on everybody's path.
const NAMED: &str = "/usr/sbin/named";

const ZONE: &str = "$TTL 60
@ IN SOA ns.onrush.test. admin.onrush.test. 1 60 60 60 60
@ IN NS ns.onrush.test.
@ IN MX 10 one.onrush.test.
ns IN A 127.0.0.1
one IN A 192.0.2.1
one IN AAAA 2001:db8::1
one IN TXT \"two \\\"words\\\", \" \"and more\"
two IN A 192.0.2.2
two IN A 192.0.2.3
alias IN CNAME one.onrush.test.
_sip._udp IN SRV 1 2 5060 one.onrush.test.
xn--bcher-kva IN A 192.0.2.4
";

const REVERSE: &str = "$TTL 60
@ IN SOA ns.onrush.test. admin.onrush.test. 1 60 60 60 60
@ IN NS ns.onrush.test.
1 IN PTR one.onrush.test.
";

/// The test script against one server.
pub(super) fn cases(suite: &Suite) -> Result<(), String> {
    if !Path::new(NAMED).is_file() {
        println!("dns: skipped: there is no {NAMED}");
        return Ok(());
    }
    let folder = suite.fresh("dns")?;
    let port = free_port()?;
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).map_err(|error| format!("cannot write {name}: {error}"))
    };
    let has_ipv6 = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    // More than 512 bytes, and fewer than the hundred that the server takes.
    let many: String = (0..90).map(|n| format!("many IN A 203.0.113.{n}\n")).collect();
    write("zone", &format!("{ZONE}{many}"))?;
    write("reverse", REVERSE)?;
    write("named.conf", &config(&folder, port, has_ipv6))?;
    let _named = start(NAMED, &["-f", "-c", "named.conf"], &folder, port)?;
    wait_for_zone(port)?;
    let silent = UdpSocket::bind("127.0.0.1:0").map_err(|error| format!("no socket: {error}"))?;
    let silent_at = silent.local_addr().map_err(|error| error.to_string())?;
    let at6 = if has_ipv6 { format!("[::1]:{port}") } else { String::new() };
    let places = format!(r#"{{"at":"127.0.0.1:{port}","at6":"{at6}","port":{port},"silent":"{silent_at}"}}"#);
    suite.script("dns", "one server", &[&format!("DNS={places}")])
}

/// The server listens before it has read its zones.
fn wait_for_zone(port: u16) -> Result<(), String> {
    let text = |error: std::io::Error| format!("no answer of {NAMED}: {error}");
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(text)?;
    socket.connect(("127.0.0.1", port)).map_err(text)?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(text)?;
    let end = Instant::now() + PATIENCE;
    // The address of ns.onrush.test, and the code in the last bits of the answer's flags.
    let question = b"\0\x01\0\0\0\x01\0\0\0\0\0\0\x02ns\x06onrush\x04test\0\0\x01\0\x01";
    let mut answer = [0; 512];
    while Instant::now() < end {
        socket.send(question).map_err(text)?;
        let length = socket.recv(&mut answer).map_err(text)?;
        if length > 12 && answer[3] & 15 == 0 {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{NAMED} has not loaded its zone"))
}

fn config(folder: &Path, port: u16, has_ipv6: bool) -> String {
    let folder = folder.display();
    let ipv6 = if has_ipv6 { "::1;" } else { "none;" };
    format!(
        "options {{
            directory \"{folder}\";
            pid-file \"{folder}/named.pid\";
            session-keyfile \"{folder}/session.key\";
            managed-keys-directory \"{folder}\";
            listen-on port {port} {{ 127.0.0.1; }};
            listen-on-v6 port {port} {{ {ipv6} }};
            recursion no;
            allow-query {{ any; }};
        }};
        controls {{ }};
        zone \"onrush.test\" {{ type primary; file \"zone\"; }};
        zone \"2.0.192.in-addr.arpa\" {{ type primary; file \"reverse\"; }};
        zone \"broken.test\" {{ type primary; file \"missing\"; }};
        "
    )
}
