//! Targets on unix sockets, by `hosts`; the kernel does not stamp their bytes, and the summary says so.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use crate::lab::Lab;

const THREE: &str = "import http from 'k6/http'; import { check } from 'k6';
    export const options = { iterations: 3, hosts: __ENV.SOCKET ? { 'app.test': `unix:${__ENV.SOCKET}` } : {} };
    export default function () {
      check(http.get(__ENV.SOCKET ? 'http://app.test/' : __ENV.TARGET), { fine: (r) => r.status === 200 });
    }";

const REMARK: &str = "timings of 3 of 3 requests were taken by this program, not by the kernel, because unix sockets \
    have no receive stamps";

/// Answers every request on a connection until it is closed.
fn answer(stream: UnixStream) {
    let (mut lines, mut out) = (BufReader::new(stream.try_clone().expect("a socket")).lines(), stream);
    while let Some(Ok(line)) = lines.next() {
        if line.is_empty() && out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").is_err() {
            return;
        }
    }
}

#[test]
fn the_summary_tells_of_timings_without_stamps() {
    let lab = Lab::with(THREE);
    let path = lab.path().join("app.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer));
    let socket = format!("SOCKET={}", path.display());
    let run = lab.run(&["-e", &socket]).code(0).prints("GENERATOR").prints(REMARK);
    assert!(run.stdout.contains("checks_succeeded...: 100.00% 3 out of 3"), "{}", run.stdout);
}

#[test]
fn it_says_nothing_when_the_kernel_stamped_all() {
    // A machine that stands still between two readings of its clocks may spoil a stamp, but not in every run.
    let runs = (0..5).map(|_| Lab::with(THREE).run(&["--serve"]).code(0).stdout);
    let clean = runs.inspect(|stdout| assert!(stdout.contains("checks_succeeded...: 100.00%"), "{stdout}"));
    assert!(clean.into_iter().any(|stdout| !stdout.contains("timings of")), "no run had all its stamps");
}
