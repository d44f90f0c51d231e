//! Whether a port is free, and which process holds it when not.
//!
//! Told from /proc: the listening socket's inode, then the process that has it open. Processes of other users cannot be
//! looked into; then nobody is named.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::Path;

use super::process::is_number;

/// Refuses a port that somebody listens on: the load would measure that one.
pub fn must_be_free(port: &str) -> Result<(), String> {
    match TcpListener::bind(format!("127.0.0.1:{port}")) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let owner = port.parse().ok().and_then(owner).unwrap_or_else(|| String::from("another process"));
            Err(format!(
                "port {port} is taken by {owner}: end that one, or leave 'port' out and use {{port}}, which is free"
            ))
        }
        Err(error) => Err(format!("port {port} cannot be used: {error}")),
    }
}

/// `process 123 (nginx)`.
fn owner(port: u16) -> Option<String> {
    let inode = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| std::fs::read_to_string(table).ok())
        .find_map(|table| listener(&table, port))?;
    let link = format!("socket:[{inode}]");
    // Not `self`, and not the names of other things.
    let processes = std::fs::read_dir("/proc").ok()?.flatten().filter(|entry| is_number(&entry.file_name()));
    let folder = processes.map(|entry| entry.path()).find(|folder| has_open(folder, OsStr::new(&link)))?;
    let name = std::fs::read_to_string(folder.join("comm")).unwrap_or_default();
    Some(format!("process {} ({})", folder.file_name()?.to_string_lossy(), name.trim()))
}

/// The inode of the socket that listens on this port, in the table of /proc/net/tcp.
fn listener(table: &str, port: u16) -> Option<u64> {
    const LISTENS: &str = "0A";
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
        let is_it = *fields.get(3)? == LISTENS && u16::from_str_radix(local_port, 16) == Ok(port);
        if is_it { fields.get(9)?.parse().ok() } else { None }
    })
}

fn has_open(folder: &Path, link: &OsStr) -> bool {
    let files = std::fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
    files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|found| found.as_os_str() == link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_port_is_named() {
        let held = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = held.local_addr().unwrap().port().to_string();
        let message = must_be_free(&port).unwrap_err();
        assert!(message.starts_with(&format!("port {port} is taken by process {} (", std::process::id())), "{message}");
        drop(held);
        assert_eq!(must_be_free(&port), Ok(()));
    }

    #[test]
    fn the_table_of_sockets_is_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout \
            inode\n   0: 0100007F:1F90 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 11 1\n   \
            1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1\n";
        assert_eq!(listener(table, 8080), Some(4711), "the one that listens, not the one that is connected");
        assert_eq!(listener(table, 80), None);
    }
}
