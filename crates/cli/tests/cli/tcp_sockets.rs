//! `k6/x/tcp`: what the run does with sockets of scripts. What they do with connections is in `cargo xtask extensions`.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread;

use server::{Server, ServerConfig};

use crate::lab::Lab;

/// Sends back what comes; ends with the tests.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut back = stream.try_clone().expect("a second handle");
            thread::spawn(move || io::copy(&mut &stream, &mut back));
        }
    });
    port
}

#[test]
fn an_iteration_waits_until_its_sockets_are_closed() {
    let lab = Lab::with(&format!(
        "import {{ Socket }} from 'k6/x/tcp';
        export const options = {{
          thresholds: {{ iteration_duration: ['min > 100'], data_sent: ['count == 5'], data_received: ['count == 5'] }},
        }};
        export default function () {{
          const socket = new Socket();
          socket.on('connect', () => socket.write('hello'));
          socket.on('data', (data) => {{
            console.log('echo ' + String.fromCharCode(...data));
            setTimeout(() => socket.destroy(), 120);
          }});
          socket.on('close', () => console.log('closed'));
          socket.connect({});
          new Socket().on('close', () => console.log('never'));
        }}",
        echo()
    ));
    let run = lab.run(&[]).code(0).says("echo hello").says("closed");
    assert!(!run.stderr.contains("never"), "{}", run.stderr);
}

#[test]
fn an_iteration_that_is_cut_short_closes_them_without_a_word() {
    let lab = Lab::with(&format!(
        "import {{ Socket }} from 'k6/x/tcp';
        export const options = {{
          scenarios: {{ all: {{ executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' }} }},
          thresholds: {{ tcp_sockets: ['count == 2'], tcp_socket_duration: ['min > 300', 'max < 5000'] }},
        }};
        export default async function () {{
          const socket = new Socket();
          socket.on('close', () => console.log('closed'));
          await socket.connect({});
          console.log('open');
        }}",
        echo()
    ));
    let run = lab.run(&[]).code(0).says("open");
    assert!(!run.stderr.contains("closed"), "{}", run.stderr);
}

#[test]
fn an_exception_of_a_handler_ends_the_iteration() {
    let lab = Lab::with(&format!(
        "import {{ Socket }} from 'k6/x/tcp';
        export const options = {{ thresholds: {{ iterations_threw: ['count == 1'] }} }};
        export default function () {{
          const socket = new Socket();
          socket.on('connect', () => {{ throw new Error('in the handler'); }});
          socket.connect({});
        }}",
        echo()
    ));
    lab.run(&[]).code(0).says("Error: in the handler").says("script.js:5:");
}

#[test]
fn a_failure_is_told_once() {
    let script = |handler: &str| {
        format!(
            "import {{ Socket }} from 'k6/x/tcp';
            export const options = {{ blacklistIPs: ['127.0.0.0/8'], thresholds: {{ tcp_errors: ['count == 1'] }} }};
            export default function () {{
              const socket = new Socket();
              {handler}
              socket.connect(9, '127.0.0.7');
            }}"
        )
    };
    let why = "IP (127.0.0.7) is in a blacklisted range (127.0.0.0/8)";
    let handled = Lab::with(&script("socket.on('error', (error) => console.log(`told ${error.message}`));"));
    let run = handled.run(&[]).code(0).says(&format!("told {why}"));
    assert!(!run.stderr.contains("Uncaught"), "{}", run.stderr);
    Lab::with(&script("")).run(&[]).code(0).says("Uncaught (in promise)").says(why);
}

#[test]
fn a_socket_speaks_tls_by_the_options_of_the_test() {
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    let server = Server::start(ServerConfig { tls: vec![any], ..ServerConfig::default() }).unwrap();
    let port = server.addresses().tls[0].port();
    let lab = Lab::with(&format!(
        "import {{ Socket }} from 'k6/x/tcp';
        export const options = {{ thresholds: {{ data_sent: ['count > 200'], data_received: ['count > 500'] }} }};
        export default async function () {{
          const socket = new Socket();
          let answer = '';
          socket.on('data', (data) => (answer += String.fromCharCode(...data)));
          socket.on('close', () => console.log(answer.split('\\r\\n')[0], socket.bytes_written));
          await socket.connect({{ host: '127.0.0.1', port: {port}, tls: true }});
          await socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n');
        }}"
    ));
    lab.run(&["--insecure-skip-tls-verify"]).code(0).says("HTTP/1.1 200 OK 46");
    lab.run(&[]).says("tls: failed to verify certificate");
}

#[test]
fn a_socket_goes_over_the_link_of_its_user() {
    let lab = Lab::with(&format!(
        "import {{ Socket }} from 'k6/x/tcp';
        export const options = {{
          network: {{ latency: '100ms' }},
          thresholds: {{ tcp_socket_connecting: ['min >= 100'], tcp_socket_duration: ['min >= 100'] }},
        }};
        export default async function () {{
          const socket = new Socket();
          socket.on('data', () => socket.destroy());
          await socket.connect({});
          console.log(socket.local_ip, socket.remote_ip, socket.local_port > 0);
          await socket.write('x');
        }}",
        echo()
    ));
    lab.run(&[]).code(0).says("127.0.0.1 127.0.0.1 true");
}
