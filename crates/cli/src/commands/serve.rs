//! `onrush serve`: the target on its own, until a signal comes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use server::app::AppFactory;
use server::{Server, ServerConfig};
use units::Span;

use super::serve_limits;
use super::witness::ServerRecord;
use crate::app;
use crate::commands::run::script_failure;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::json_answer::{self, Served, Serving};
use crate::log::{LogFlags, Logger};
use crate::output;
use crate::process::environment::Variables;

/// How long requests under way may take once a signal came.
const GRACE: Duration = Duration::from_secs(5);

/// The `serve` command with its flags.
pub fn command() -> Command {
    let command = Command::new("serve")
        .about(
            "Start the target server: httpbin-like routes, an upload sink, delays and faults, or an app in JavaScript",
        )
        .arg(Arg::new("app").value_name("APP").help("Serve this file: `export default { fetch(request) { … } }`"))
        .arg(
            Arg::new("listen")
                .long("listen")
                .value_name("ADDRESS")
                .action(ArgAction::Append)
                .default_value("tcp://127.0.0.1:8080")
                .help("host:port or tcp://host:port, tls://host:port, unix:/path or unix:@name; repeat for more"),
        )
        .arg(
            Arg::new("env")
                .short('e')
                .long("env")
                .value_name("NAME=VALUE")
                .action(ArgAction::Append)
                .help("Set a variable of the app's __ENV; repeat for more"),
        )
        .arg(
            Arg::new("busy-limit")
                .long("busy-limit")
                .value_name("TIME")
                .default_value("5s")
                .help("Interrupt JavaScript of the app that runs longer than this without waiting"),
        )
        .arg(Arg::new("workers").long("workers").value_name("N").default_value("1").help("Threads"))
        .arg(
            Arg::new("certificate-out").long("certificate-out").value_name("FILE").help("Write the certificate as PEM"),
        )
        .arg(
            Arg::new("witness")
                .long("witness")
                .value_name("FILE")
                .help("Write what the target saw to this file at the end, for 'onrush witness'"),
        )
        .arg(json_answer::flag_saying(
            "Print JSON (docs/schema): a line when the target listens, serving-1.json, and one at the end, \
             served-1.json",
        ));
    serve_limits::flags(command)
}

/// Serves until SIGINT, SIGTERM or SIGHUP, then prints what was counted.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let mut config = config(matches)?;
    config.app = app(matches)?;
    let record = matches.get_one::<String>("witness").map(|path| ServerRecord::new(path)).transpose()?;
    config.witness = record.as_ref().map(ServerRecord::factory);
    let has_tls = !config.tls.is_empty();
    let server = Server::start(config).map_err(|e| Failure::new(ExitCode::Generic, format!("cannot serve: {e}")))?;
    // Heard before anybody can know that there is something to end.
    let wait_for_signal = crate::process::signals::one()?;
    let addresses = server.addresses();
    let serving = Serving {
        kind: "onrush-serving",
        schema: 1,
        http: addresses.tcp.iter().map(|address| format!("http://{address}")).collect(),
        https: addresses.tls.iter().map(|address| format!("https://{address}")).collect(),
        unix: addresses.unix.iter().map(|path| path.display().to_string()).collect(),
    };
    let answers = json_answer::is_wanted(matches);
    // Nobody has to read it: the server continues when standard output is closed.
    let say = |line: String| output::stdout().print(format!("{line}\n").as_bytes());
    if answers {
        say(json_answer::line(&serving));
    } else {
        let unix = serving.unix.iter().map(|path| format!("unix:{path}"));
        let all = serving.http.iter().chain(&serving.https).cloned().chain(unix);
        all.for_each(|address| say(format!("listening on {address}")));
    }
    if let (Some(path), Some(pem)) = (matches.get_one::<String>("certificate-out"), &addresses.certificate_pem) {
        std::fs::write(path, pem).map_err(|e| Failure::new(ExitCode::Generic, format!("cannot write {path}: {e}")))?;
    }
    wait_for_signal();
    let counted = server.stop(GRACE);
    let written = record.map_or(Ok(()), |record| record.write(&counted, has_tls));
    say(match (answers, counted) {
        (true, serde_json::Value::Object(counted)) => {
            let counted = counted.into_iter().collect();
            json_answer::line(&Served { kind: "onrush-served", schema: 1, counted })
        }
        (_, counted) => counted.to_string(),
    });
    written.map(|()| ExitCode::Ok)
}

/// The app of the command line, loaded.
fn app(matches: &ArgMatches) -> Result<Option<AppFactory>, Failure> {
    let Some(path) = matches.get_one::<String>("app") else { return Ok(None) };
    let limit: &String = matches.get_one("busy-limit").expect("has a default");
    let limit = Span::parse(limit).ok().and_then(Span::to_duration).filter(|limit| !limit.is_zero());
    let limit = limit.ok_or_else(|| {
        Failure::of_flag(
            "--busy-limit",
            matches.get_one::<String>("busy-limit").expect("has a default"),
            "a time, as in 500ms or 5s",
        )
    })?;
    let mut env: Variables = std::env::vars().collect();
    for item in matches.get_many::<String>("env").into_iter().flatten() {
        let (name, value) = item.split_once('=').ok_or_else(|| Failure::of_flag("--env", item, "NAME=VALUE"))?;
        env.insert(name.to_owned(), value.to_owned());
    }
    let log = Arc::new(Logger::new(&LogFlags::default())?);
    app::load(path, env, log, limit).map(Some).map_err(script_failure)
}

fn config(matches: &ArgMatches) -> Result<ServerConfig, Failure> {
    let workers: &String = matches.get_one("workers").expect("has a default");
    let workers = workers.parse().map_err(|_| Failure::of_flag("--workers", workers, "a whole number"))?;
    let mut config = ServerConfig { workers, ..ServerConfig::default() };
    for text in matches.get_many::<String>("listen").expect("has a default") {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => config.unix.push(PathBuf::from(path)),
            Some((kind @ ("tcp" | "tls"), rest)) => {
                let address = socket_address(rest.trim_start_matches('/'), text)?;
                if kind == "tcp" { config.tcp.push(address) } else { config.tls.push(address) }
            }
            // What people write first: 127.0.0.1:8080.
            Some((_, port)) if port.parse::<u16>().is_ok() || text.starts_with('[') => {
                config.tcp.push(socket_address(text, text)?);
            }
            _ => {
                return Err(Failure::of_flag(
                    "--listen",
                    text,
                    "tcp://host:port, tls://host:port, unix:/path or unix:@name",
                ));
            }
        }
    }
    serve_limits::apply(matches, &mut config)?;
    Ok(config)
}

fn socket_address(host_and_port: &str, text: &str) -> Result<SocketAddr, Failure> {
    use std::net::ToSocketAddrs;
    host_and_port
        .to_socket_addrs()
        .ok()
        .and_then(|mut all| all.next())
        .ok_or_else(|| Failure::of_flag("--listen", text, "host:port"))
}
