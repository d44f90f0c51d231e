//! Reading the script and consolidating its options; starting the target beside it.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use clap::ArgMatches;
use metrics::{Recorder, Registry};
use script::log::{Level, LogSink};
use script::options::Options;
use script::{LoadOptions, Program, ScriptError, Source};
use target::{Server, ServerConfig};
use tokio::runtime::Runtime;
use wire::settings::Proxies;

use super::flags::Flags;
use crate::config::{self, Layer};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;

/// The loaded script and the event loop on which init code, setup, teardown and handleSummary run.
pub struct Script {
    /// What was loaded.
    pub program: Program,
    /// For VU 0.
    pub runtime: Runtime,
}

/// Starts the target, plain and TLS, on free ports of 127.0.0.1.
pub fn start_target() -> Result<Server, Failure> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = ServerConfig { tcp: vec![any], tls: vec![any], ..ServerConfig::default() };
    Server::start(config).map_err(|e| Failure::new(ExitCode::Generic, format!("cannot start the target: {e}")))
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
        .build()
        .map_err(|e| Failure::new(ExitCode::Generic, format!("cannot make an event loop: {e}")))?;
    let cwd = std::env::current_dir()
        .map_err(|e| Failure::new(ExitCode::Generic, format!("cannot tell the current folder: {e}")))?;
    let mut env = flags.script_env.clone();
    for (name, address) in target.into_iter().flat_map(addresses) {
        env.entry(name.to_owned()).or_insert(address);
    }
    let recorder = Rc::new(Recorder::new(registry.clone()));
    let cache_dir = cache_folder(&flags.system_env);
    let load = LoadOptions { env, cwd, cache_dir, options, log: log as Arc<dyn LogSink>, registry, recorder };
    let source = source(&flags.script)?;
    let program = runtime.block_on(Program::load(source, load)).map_err(script_failure)?;
    Ok(Script { program, runtime })
}

/// `onrush` in the user's cache folder.
fn cache_folder(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let folder = match env.get("XDG_CACHE_HOME").filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(env.get("HOME")?).join(".cache"),
    };
    Some(folder.join("onrush"))
}

/// Where the target listens, as `__ENV` tells the script.
fn addresses(target: &Server) -> impl Iterator<Item = (&'static str, String)> {
    let addresses = target.addresses();
    let plain = addresses.tcp.first().map(|address| ("TARGET", format!("http://{address}")));
    let tls = addresses.tls.first().map(|address| ("TARGET_TLS", format!("https://{address}")));
    plain.into_iter().chain(tls)
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
    /// Reads config file, environment and flags.
    pub fn read(flags: &Flags, matches: &ArgMatches, log: &Logger) -> Result<Self, Failure> {
        let below = match config::file_layer(flags.config.as_deref(), &flags.system_env)? {
            Some(layer) => read_layer(&layer, log)?,
            None => Options::default(),
        };
        let environment = read_layer(&config::environment_layer(&flags.system_env)?, log)?;
        let mut above = environment.merge(read_layer(&config::flag_layer(matches)?, log)?);
        above.vu_memory_limit = flags.vu_memory_limit;
        above.proxies = proxies(&flags.system_env);
        Ok(Layers { below, above })
    }

    /// What holds while the script is being read.
    pub fn without_script(&self) -> Options {
        self.below.clone().merge(self.above.clone())
    }

    /// All layers put together: default < config file < script < environment < flag.
    pub fn with_script(self, script: &Script, log: &Logger) -> Result<Options, Failure> {
        let own = match script.program.options_json() {
            Some(json) => {
                let options = serde_json::from_str(json).expect("made by JSON.stringify");
                read_layer(&Layer { origin: String::from("the script"), options }, log)?
            }
            None => Options::default(),
        };
        let all = self.below.merge(own).merge(self.above);
        if all.paused == Some(true) {
            let text = "the option 'paused' needs the REST API, which is not there yet; the test starts at once";
            log.write(Level::Warning, text, &[]);
        }
        Ok(all)
    }
}

fn read_layer(layer: &Layer, log: &Logger) -> Result<Options, Failure> {
    let (options, warnings) = Options::from_json(&layer.options, &layer.origin)
        .map_err(|error| Failure::new(ExitCode::InvalidConfig, error.message))?;
    warnings.iter().for_each(|warning| log.write(Level::Warning, warning, &[]));
    Ok(options)
}

/// Lower case beats upper case, as in curl and Go.
fn proxies(env: &BTreeMap<String, String>) -> Proxies {
    let find = |name: &str| {
        let found = env.get(&name.to_lowercase()).or_else(|| env.get(name));
        found.filter(|text| !text.is_empty()).cloned()
    };
    Proxies { http: find("HTTP_PROXY"), https: find("HTTPS_PROXY"), no_proxy: find("NO_PROXY"), even_local: false }
}

/// What a script did wrong, ready to print.
pub fn script_failure(error: ScriptError) -> Failure {
    let text = match error.stack.is_empty() {
        true => error.to_string(),
        false => format!("{error}\n{}", error.stack.trim_end()),
    };
    Failure::new(ExitCode::of_script(error.exit_code), text)
}
