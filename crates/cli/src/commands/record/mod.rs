//! `onrush record`: a proxy on this machine that passes requests on, and writes a script of them when it is ended.
//!
//! For programs that take a proxy: browsers, curl, clients under test. It listens on loopback alone unless told
//! otherwise. HTTPS is opened by certificates of an authority of its own, made at the first start and kept; who does
//! not trust it is refused by the program, never silently.

mod authority;
pub(crate) mod message;
mod proxy;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Arg, ArgAction, ArgMatches, Command};
use convert::recording::{Exchange, Recording};

use self::authority::Authority;
use super::convert::{Target, script_flags};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output;

/// The command and its flags.
pub fn command() -> Command {
    let command = Command::new("record")
        .about("Record the requests of a browser or another program through a proxy, as a script")
        .after_help(
            "Start it, set it as the HTTP and HTTPS proxy of the program, use the program, end it by Ctrl-C.\n  \
             onrush record -O shop.js --skip-static &\n  \
             curl --proxy http://127.0.0.1:8888 --cacert onrush-ca.pem https://test.example/",
        )
        .arg(
            Arg::new("listen")
                .long("listen")
                .value_name("ADDRESS")
                .default_value("127.0.0.1:8888")
                .help("Where the proxy listens; port 0 takes a free one"),
        )
        .arg(
            Arg::new("ca-out")
                .long("ca-out")
                .value_name("FILE")
                .default_value("onrush-ca.pem")
                .help("The authority to trust for HTTPS; its key is kept beside it. Made when it is not there"),
        )
        .arg(
            Arg::new("insecure")
                .long("insecure")
                .short('k')
                .action(ArgAction::SetTrue)
                .help("Accept any certificate of servers"),
        );
    script_flags(command)
}

/// Records until a signal comes.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let target = Target::read(matches)?;
    let text = |name| matches.get_one::<String>(name).expect("has a default").as_str();
    let address: SocketAddr = text("listen")
        .parse()
        .map_err(|_| Failure::of_flag("--listen", text("listen"), "an address and a port, as in 127.0.0.1:8888"))?;
    let settings = target.settings(matches);
    let refused = |message: String| Failure::new(ExitCode::Generic, message);
    let authority = Authority::at(Path::new(text("ca-out"))).map_err(refused)?;
    let listener =
        TcpListener::bind(address).map_err(|error| refused(format!("cannot listen on {address}: {error}")))?;
    let bound = listener.local_addr().unwrap_or(address);
    let wait_for_signal = crate::process::signals::one()?;
    let exchanges: Arc<Mutex<Vec<Exchange>>> = Arc::default();
    let is_insecure = matches.get_flag("insecure");
    let proxy = proxy::Proxy { authority, is_insecure, exchanges: exchanges.clone(), held: Arc::default() };
    std::thread::Builder::new()
        .name(String::from("proxy"))
        .spawn(move || proxy::serve(&listener, &Arc::new(proxy)))
        .map_err(|error| refused(format!("cannot start a thread: {error}")))?;
    let say = |line: String| output::stderr().print(format!("{line}\n").as_bytes());
    say(format!("proxy on http://{bound}; for HTTPS trust {}; Ctrl-C writes the script", text("ca-out")));
    wait_for_signal();
    let recorded = std::mem::take(&mut *exchanges.lock().unwrap_or_else(PoisonError::into_inner));
    let mut recording = Recording::new(&settings);
    for (at, exchange) in recorded.into_iter().enumerate() {
        recording.add(exchange, &format!("request {}", at + 1));
    }
    target.write(recording.finish(), "what was recorded")
}

/// Nanoseconds since the epoch.
fn now_ns() -> Option<i128> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|time| time.as_nanos() as i128)
}
