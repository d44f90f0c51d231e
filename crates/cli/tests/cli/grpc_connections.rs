//! The connections under `k6/net/grpc`: shared by users, dialled anew when they are lost.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use server::{Server, ServerConfig};

use crate::lab::{Lab, Run};

/// Passes bytes on to the target, and counts connections.
struct Relay {
    address: SocketAddr,
    count: Arc<AtomicUsize>,
    _target: Server,
}

impl Relay {
    /// `life`: after which a connection is cut.
    fn start(life: Option<Duration>) -> Relay {
        let any = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
        let target = Server::start(ServerConfig { tcp: any, ..ServerConfig::default() }).expect("the target starts");
        let to = target.addresses().tcp[0];
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::Relaxed);
                let far = TcpStream::connect(to).expect("the target listens");
                pass(&near, &far);
                pass(&far, &near);
                if let Some(life) = life {
                    thread::spawn(move || {
                        thread::sleep(life);
                        let _ = (near.shutdown(Shutdown::Both), far.shutdown(Shutdown::Both));
                    });
                }
            }
        });
        Relay { address, count, _target: target }
    }

    /// Runs a script that finds the relay's address in `ADDRESS`; all checks have to hold.
    fn run(&self, flags: &[&str], body: &str) -> Run {
        let script = format!(
            "import {{ check, sleep }} from 'k6';
            import grpc, {{ Client, Stream }} from 'k6/net/grpc';
            export const options = {{ thresholds: {{ checks: ['rate==1'] }} }};
            const client = new Client();
            const T = 'onrush.test.v1.Target/';
            function thrown(action) {{ try {{ action(); return ''; }} catch (error) {{ return error.message; }} }}
            {body}"
        );
        let address = format!("ADDRESS={}", self.address);
        let flags: Vec<&str> = flags.iter().copied().chain(["-e", &address]).collect();
        Lab::with(&script).run(&flags).code(0)
    }

    fn connections(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

fn pass(from: &TcpStream, to: &TcpStream) {
    let clone = |socket: &TcpStream| socket.try_clone().expect("a descriptor is free");
    let (mut from, mut to) = (clone(from), clone(to));
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
}

#[test]
fn users_of_a_worker_share_as_many_connections_as_the_script_says() {
    let relay = Relay::start(None);
    let body = "export default function () {
        client.connect(__ENV.ADDRESS, { plaintext: true, reflect: true, connections: 2 });
        const response = client.invoke(T + 'Delay', { milliseconds: 20 });
        check(response, { ok: (r) => r.status === grpc.StatusOK });
        client.close();
        check(null, { closed: () =>
            thrown(() => client.invoke(T + 'Echo', {})) === 'no gRPC connection, you must call connect first' });
    }";
    relay.run(&["--workers", "2", "-u", "20", "-i", "80"], body).prints("160 out of 160");
    assert_eq!(relay.connections(), 4);
}

#[test]
fn without_that_each_client_has_its_own() {
    let relay = Relay::start(None);
    let body = "export default function () {
        if (__ITER === 0) client.connect(__ENV.ADDRESS, { plaintext: true, reflect: true });
        check(client.invoke(T + 'Echo', {}), { ok: (r) => r.status === grpc.StatusOK });
    }";
    let executor = ["--workers", "1", "-u", "5", "-i", "5"];
    relay.run(&executor, body).prints("5 out of 5");
    assert_eq!(relay.connections(), 5);
}

#[test]
fn connections_of_many_streams_carry_more_calls_than_the_target_allows_at_once() {
    let relay = Relay::start(None);
    let body = "export default async function () {
        client.connect(__ENV.ADDRESS, { plaintext: true, reflect: true, connections: 1 });
        const calls = Array.from({ length: 20 }, () => client.asyncInvoke(T + 'Delay', { milliseconds: 10 }));
        check(await Promise.all(calls), { ok: (all) => all.every((r) => r.status === grpc.StatusOK) });
    }";
    relay.run(&["--workers", "1", "-u", "30", "-i", "60"], body).prints("60 out of 60");
    assert_eq!(relay.connections(), 1);
}

#[test]
fn a_count_of_connections_is_a_whole_number_above_zero() {
    let body =
        "const refused = (connections) => thrown(() => client.connect('127.0.0.1:1', { plaintext: true, connections }))
        .replace('invalid grpc.connect() parameters: invalid connections value: ', '');
    export default function () {
        check(null, {
            none: () => refused(0) === `'0', it needs to be 1 or more`,
            text: () => refused('2') === `'\"2\"', it needs to be an integer`,
        });
    }";
    Relay::start(None).run(&[], body);
}

#[test]
fn a_lost_connection_is_dialled_anew_by_the_next_call_and_stream() {
    let relay = Relay::start(Some(Duration::from_millis(600)));
    let body = "const number = (stream) => new Promise((resolve) => {
        stream.on('data', (message) => resolve(message.number));
        stream.on('error', (error) => resolve(error.message));
        stream.write({ count: 1 });
    });
    export default async function () {
        client.connect(__ENV.ADDRESS, { plaintext: true, reflect: true });
        const ok = (r) => r.status === grpc.StatusOK;
        check(client.invoke(T + 'Echo', {}), { first: ok });
        check(client.invoke(T + 'Delay', { milliseconds: 30000 }), {
            'one under way': (r) => r.status === grpc.StatusUnavailable &&
                r.error.message === 'connection error: unexpected EOF' });
        check(client.invoke(T + 'Echo', {}), { 'the next': ok });
        sleep(1);
        check(await number(new Stream(client, T + 'Count')), { 'a stream': (number) => number === 0 });
        client.close();
    }";
    relay.run(&[], body).prints("4 out of 4");
    assert_eq!(relay.connections(), 3);
}

#[test]
fn a_server_without_reflection_is_told() {
    let lab = Lab::with(
        "import { Client } from 'k6/net/grpc';
        export default function () {
            const address = __ENV.TARGET.replace(/^https?:\\/\\//, '').replace(/\\/$/, '');
            try { new Client().connect(address, { plaintext: true, reflect: true }); }
            catch (error) { console.log(error.message); }
        }",
    );
    let app = lab.file(
        "app.js",
        "export default { fetch() {
            const status = { 'grpc-status': '12', 'grpc-message': 'unknown service' };
            return new Response(null, { headers: { 'content-type': 'application/grpc', ...status } });
        } };",
    );
    let serve = format!("--serve={}", app.display());
    let run = lab.run(&[&serve, "--log-format", "raw"]).code(0);
    assert_eq!(
        run.stderr.lines().last(),
        Some("can't list services: rpc error: code = Unimplemented desc = unknown service")
    );
}
