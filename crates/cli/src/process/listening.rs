//! Which processes of this machine listen at a port.
//!
//! Told from /proc: the listening socket's inode, then the processes that have it open. Processes of other users cannot
//! be looked into; then nobody is named.

use std::path::Path;

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listening {
    /// Its number.
    pub pid: u32,
    /// The kernel's name of it, 15 characters at most.
    pub name: String,
}

/// Those that have the socket that listens at this port of TCP; several where they share it.
pub fn at_port(port: u16) -> Vec<Listening> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].iter().filter_map(|table| std::fs::read_to_string(table).ok());
    let links: Vec<String> = tables
        .flat_map(|table| listeners(&table, port))
        // A table of sockets that nobody has open any more says 0.
        .filter(|inode| *inode > 0)
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    if links.is_empty() {
        return Vec::new();
    }
    let found = processes().filter(|pid| has_open(*pid, &links));
    found.map(|pid| Listening { pid, name: name_of(pid) }).collect()
}

/// The numbers of all processes.
pub fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    // Not `self`, and not the names of other things.
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn name_of(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// The inodes of the sockets that listen at this port, in the table of /proc/net/tcp.
fn listeners(table: &str, port: u16) -> Vec<u64> {
    const LISTENS: &str = "0A";
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
        let is_it = *fields.get(3)? == LISTENS && u16::from_str_radix(local_port, 16) == Ok(port);
        if is_it { fields.get(9)?.parse().ok() } else { None }
    };
    table.lines().skip(1).filter_map(inode).collect()
}

fn has_open(pid: u32, links: &[String]) -> bool {
    let files = std::fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd")).into_iter().flatten().flatten();
    let mut links_of = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    links_of.any(|found| found.to_str().is_some_and(|found| links.iter().any(|link| link == found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_is_found() {
        let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = held.local_addr().unwrap().port();
        assert!(at_port(port).iter().any(|found| found.pid == std::process::id() && !found.name.is_empty()));
        drop(held);
        assert!(at_port(port).iter().all(|found| found.pid != std::process::id()));
    }

    #[test]
    fn the_table_of_sockets_is_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout \
            inode\n   0: 0100007F:1F90 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 11 1\n   \
            1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1\n   \
            2: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 1\n";
        assert_eq!(listeners(table, 8080), [4711, 4712], "those that listen, not the one that is connected");
        assert_eq!(listeners(table, 80), [0; 0]);
    }
}
