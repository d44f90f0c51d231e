//! Reading the script and consolidating its options; starting the target beside it.

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use clap::ArgMatches;
use metrics::{Recorder, Registry};
use script::log::{Level, LogSink};
use script::modules::BUILTINS;
use script::options::Options;
use script::{LoadOptions, Program, ScriptError, Source};
use server::{Server, ServerConfig};
use tokio::runtime::LocalRuntime;

use super::flags::{Flags, Serve};
use crate::app;
use crate::config;
use crate::environment;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;

/// The loaded script and the event loop on which init code, setup, teardown and handleSummary run.
pub struct Script {
    /// What was loaded.
    pub program: Program,
    /// For VU 0.
    pub runtime: LocalRuntime,
}

/// The target beside a test, and what it serves.
pub struct Beside {
    /// The running target.
    pub server: Server,
    /// Holds its unix socket; goes away with it.
    _folder: SocketFolder,
}

/// A folder for the unix socket that only this user can enter.
struct SocketFolder(PathBuf);

impl Drop for SocketFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Starts the target on free ports of 127.0.0.1, plain and TLS, and on a unix socket; with an app or the built-in
/// routes.
pub fn start_target(serve: &Serve, flags: &Flags, log: &Arc<Logger>) -> Result<Beside, Failure> {
    let failed = |e: std::io::Error| Failure::new(ExitCode::Generic, format!("cannot start the target: {e}"));
    let app = match serve {
        Serve::Routes => None,
        Serve::App(path) => {
            let loaded = app::load(path, flags.script_env.clone(), log.clone(), app::BUSY_LIMIT);
            Some(loaded.map_err(script_failure)?)
        }
    };
    let folder = socket_folder().map_err(failed)?;
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let unix = vec![folder.0.join("target.sock")];
    let config = ServerConfig { tcp: vec![any], tls: vec![any], unix, app, ..ServerConfig::default() };
    Ok(Beside { server: Server::start(config).map_err(failed)?, _folder: folder })
}

fn socket_folder() -> std::io::Result<SocketFolder> {
    use std::os::unix::fs::DirBuilderExt;
    // A name nobody has: several runs may start in one process's lifetime, and paths of sockets are short.
    for number in 0.. {
        let path = std::env::temp_dir().join(format!("onrush-{}-{number}", std::process::id()));
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(SocketFolder(path)),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    unreachable!("numbers do not end")
}

/// Reads the script and runs its init code once.
pub fn script(
    flags: &Flags,
    target: Option<&Server>,
    options: Options,
    log: Arc<Logger>,
    registry: Arc<Registry>,
) -> Result<Script, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .map_err(|e| Failure::new(ExitCode::Generic, format!("cannot make an event loop: {e}")))?;
    let cwd = std::env::current_dir()
        .map_err(|e| Failure::new(ExitCode::Generic, format!("cannot tell the current folder: {e}")))?;
    let mut env = flags.script_env.clone();
    for (name, address) in target.into_iter().flat_map(addresses) {
        env.entry(name.to_owned()).or_insert(address);
    }
    let recorder = Rc::new(Recorder::new(registry.clone()));
    let cache_dir = environment::cache_folder(&flags.system_env);
    let (source, log) = match &flags.quick {
        Some(quick) => (quick.source(), quick.log(&log)),
        None => (source(&flags.script)?, log as Arc<dyn LogSink>),
    };
    let secrets = flags.secrets.clone();
    let load = LoadOptions {
        env,
        cwd,
        cache_dir,
        is_offline: flags.is_offline,
        options,
        log,
        registry,
        recorder,
        builtins: &BUILTINS,
        secrets,
    };
    let program = runtime.block_on(Program::load(source, load)).map_err(script_failure)?;
    Ok(Script { program, runtime })
}

/// Where the target listens, as `__ENV` tells the script.
fn addresses(target: &Server) -> impl Iterator<Item = (&'static str, String)> {
    let addresses = target.addresses();
    let plain = addresses.tcp.first().map(|address| ("TARGET", format!("http://{address}")));
    let socket = addresses.tcp.first().map(|address| ("TARGET_WS", format!("ws://{address}")));
    let tls = addresses.tls.first().map(|address| ("TARGET_TLS", format!("https://{address}")));
    let unix = addresses.unix.first().map(|path| ("TARGET_UNIX", path.display().to_string()));
    [plain, socket, tls, unix].into_iter().flatten()
}

fn source(script: &str) -> Result<Source, Failure> {
    if script != "-" {
        return Ok(Source::File(PathBuf::from(script)));
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|e| Failure::new(ExitCode::Generic, format!("cannot read the script from standard input: {e}")))?;
    Ok(Source::Text { name: String::from("-"), text })
}

/// The layers that are known before the script is read: below and above its own options.
pub struct Layers {
    below: Options,
    above: Options,
}

impl Layers {
    /// Reads config file, environment and flags; the certificate of a target beside the test is trusted.
    pub fn read(flags: &Flags, matches: &ArgMatches, target: Option<&Server>, log: &Logger) -> Result<Self, Failure> {
        let below = config::file_layer(flags.config.as_deref(), &flags.system_env, log)?;
        let mut above = config::environment_layer(&flags.system_env)?.merge(config::flag_layer(matches)?);
        above.vu_memory_limit = flags.vu_memory_limit;
        above.proxies = environment::proxies(&flags.system_env);
        above.no_http2 = environment::forbids_http2(&flags.system_env);
        above.trusted_pem = target.and_then(|target| target.addresses().certificate_pem.clone());
        Ok(Layers { below, above })
    }

    /// What holds while the script is being read.
    pub fn without_script(&self) -> Options {
        self.below.clone().merge(self.above.clone())
    }

    /// All layers put together: default < config file < script < environment < flag.
    pub fn with_script(self, script: &Script, log: &Logger) -> Result<Options, Failure> {
        let own = config::script_layer(script.program.options_json(), log)?;
        let all = self.below.merge(own).merge(self.above);
        if all.paused == Some(true) {
            let text = "the option 'paused' needs the REST API, which is not supported yet; the test starts at once";
            log.write(Level::Warning, text, &[]);
        }
        Ok(all)
    }
}

/// What a script did wrong, ready to print.
pub fn script_failure(error: ScriptError) -> Failure {
    let text = match error.stack.is_empty() {
        true => error.to_string(),
        false => format!("{error}\n{}", error.stack.trim_end()),
    };
    Failure::new(ExitCode::of_script(error.exit_code), text)
}
