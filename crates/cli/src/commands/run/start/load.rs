//! Reading the script and consolidating its options; starting the target beside it.

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use clap::ArgMatches;
use metrics::{Recorder, Registry};
use script::log::{Level, LogSink};
use script::options::Options;
use script::{LoadOptions, Program, ScriptError, Source};
use server::{Server, ServerConfig};
use tokio::runtime::LocalRuntime;

use crate::app;
use crate::archive::{self, Unpacked};
use crate::builtins::BUILTINS;
use crate::commands::run::start::flags::{Flags, ScriptKind, Serve};
use crate::config;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;
use crate::process::environment;
use crate::process::private_folder::PrivateFolder;

/// The loaded script and the event loop on which init code, setup, teardown and handleSummary run.
pub struct Script {
    /// What was loaded.
    pub program: Program,
    /// For VU 0.
    pub runtime: LocalRuntime,
    /// Where it came from, if it was an archive: its files lie there as long as it runs.
    pub archive: Option<Unpacked>,
}

/// The target beside a test, and what it serves.
pub struct Beside {
    /// The running target.
    pub server: Server,
    /// Holds its unix socket; goes away with it.
    _folder: PrivateFolder,
}

/// Starts the target on free ports of 127.0.0.1, plain and TLS, and on a unix socket; with an app or the built-in
/// routes.
pub fn start_target(serve: &Serve, flags: &Flags, log: &Arc<Logger>) -> Result<Beside, Failure> {
    let failed = |e: std::io::Error| Failure::new(ExitCode::Generic, format!("cannot start the target: {e}"));
    let app = match serve {
        Serve::Routes => None,
        Serve::App(path) => {
            let loaded = app::load(path, flags.test.script_env.clone(), log.clone(), app::BUSY_LIMIT);
            Some(loaded.map_err(script_failure)?)
        }
    };
    let folder = PrivateFolder::make().map_err(failed)?;
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let unix = vec![folder.path().join("target.sock")];
    let config = ServerConfig { tcp: vec![any], tls: vec![any], unix, app, ..ServerConfig::default() };
    Ok(Beside { server: Server::start(config).map_err(failed)?, _folder: folder })
}

/// Reads the script and runs its init code once.
pub fn script(
    flags: &Flags,
    target: Option<&Server>,
    options: Options,
    log: Arc<Logger>,
    registry: Arc<Registry>,
) -> Result<Script, Failure> {
    let runtime =
        wire::event_loop().map_err(|e| Failure::new(ExitCode::Generic, format!("cannot make an event loop: {e}")))?;
    let cwd = std::env::current_dir()
        .map_err(|e| Failure::new(ExitCode::Generic, format!("cannot tell the current folder: {e}")))?;
    let mut env = flags.test.script_env.clone();
    for (name, address) in target.into_iter().flat_map(addresses) {
        env.entry(name.to_owned()).or_insert(address);
    }
    let recorder = Rc::new(Recorder::new(registry.clone()));
    let cache_dir = environment::cache_folder(&flags.test.system_env);
    let archive = archive(flags)?;
    let (source, log) = match &flags.test.quick {
        Some(quick) => (quick.source(), quick.log(&log)),
        None => (source(&flags.test.script, archive.as_ref())?, log as Arc<dyn LogSink>),
    };
    // As in k6: the environment and -e come before what was packed.
    for (name, value) in archive.iter().filter_map(|archive| archive.metadata.env.as_ref()).flatten() {
        match flags.test.is_agent {
            // All agents of a test get the same, wherever they run.
            true => drop(env.insert(name.clone(), value.clone())),
            false => drop(env.entry(name.clone()).or_insert_with(|| value.clone())),
        }
    }
    let secrets = flags.test.secrets.clone();
    let load = LoadOptions {
        env,
        cwd,
        cache_dir,
        is_offline: flags.load.is_offline,
        options,
        log,
        registry,
        recorder,
        builtins: &BUILTINS,
        secrets,
        debugger: flags.test.debugger.clone(),
    };
    let program = runtime.block_on(Program::load(source, load)).map_err(script_failure)?;
    Ok(Script { program, runtime, archive })
}

/// Where the target listens, as `__ENV` tells the script.
pub fn addresses(target: &Server) -> impl Iterator<Item = (&'static str, String)> {
    let addresses = target.addresses();
    let plain = addresses.tcp.first().map(|address| ("TARGET", format!("http://{address}")));
    let socket = addresses.tcp.first().map(|address| ("TARGET_WS", format!("ws://{address}")));
    let tls = addresses.tls.first().map(|address| ("TARGET_TLS", format!("https://{address}")));
    let unix = addresses.unix.first().map(|path| ("TARGET_UNIX", path.display().to_string()));
    [plain, socket, tls, unix].into_iter().flatten()
}

/// The archive that the script is, if it is one.
fn archive(flags: &Flags) -> Result<Option<Unpacked>, Failure> {
    let path = Path::new(&flags.test.script);
    let is_archive = match flags.test.kind {
        Some(kind) => kind == ScriptKind::Archive,
        None => flags.test.quick.is_none() && flags.test.script != "-" && archive::is_archive(path),
    };
    is_archive.then(|| archive::unpack(path)).transpose()
}

fn source(script: &str, archive: Option<&Unpacked>) -> Result<Source, Failure> {
    if let Some(archive) = archive {
        let (root, entry) = (archive.root(), archive.entry().to_owned());
        return Ok(Source::Unpacked { root, entry, remote: archive.remote.clone() });
    }
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
    merges_tags: bool,
    /// `executionSegmentSequence` is set by the environment alone.
    is_sequence_of_environment: bool,
}

impl Layers {
    /// Reads config file, environment and flags; the certificate of a target beside the test is trusted.
    pub fn read(flags: &Flags, matches: &ArgMatches, target: Option<&Server>, log: &Logger) -> Result<Self, Failure> {
        let below = config::file_layer(flags.test.config.as_deref(), &flags.test.system_env, log)?;
        let above = config::environment_layer(&flags.test.system_env)?.merge(config::flag_layer(matches)?);
        let trusted_pem = target.and_then(|target| target.addresses().certificate_pem.clone());
        let merges_tags = flags.has_feature("merge-run-tags");
        let is_sequence_of_environment = config::flag_layer(matches)?.execution_segment_sequence.is_none()
            && above.execution_segment_sequence.is_some();
        Ok(Layers { below, above: of_machine(above, flags, trusted_pem), merges_tags, is_sequence_of_environment })
    }

    /// Of an agent, whose archive has all options of the test: there are those of its machine alone.
    pub fn of_agent(flags: &Flags, trusted_pem: Option<String>) -> Self {
        let above = of_machine(Options::default(), flags, trusted_pem);
        Layers { below: Options::default(), above, merges_tags: false, is_sequence_of_environment: false }
    }

    /// Of a target beside the test.
    pub fn trusted_pem(&self) -> Option<&String> {
        self.above.trusted_pem.as_ref()
    }

    /// What holds while the script is being read.
    pub fn without_script(&self) -> Options {
        self.below.clone().merge(self.above.clone())
    }

    /// All layers put together: default < config file < script < environment < flag.
    pub fn with_script(self, script: &Script, log: &Logger) -> Result<Options, Failure> {
        let own = own_options(script, log)?;
        let tags = self.merges_tags.then(|| {
            let layers = [&self.below, &own, &self.above];
            layers.into_iter().flat_map(|layer| layer.tags.clone().unwrap_or_default()).collect()
        });
        let mut all = self.below.merge(own).merge(self.above);
        all.tags = tags.or(all.tags);
        for name in all.unknown_system_tags() {
            let hint = units::suggest::hint(&name, metrics::SystemTag::ALL.iter().map(|tag| tag.name()));
            log.write(Level::Warning, &format!("systemTags: there is no system tag '{name}'{hint}"), &[]);
        }
        if all.execution_segment.is_none() && self.is_sequence_of_environment {
            // As in k6: the borders of parts stand there for those who say which part is theirs.
            all.execution_segment_sequence = None;
        }
        Ok(all)
    }
}

/// With what the flags and variables of a machine say beside options.
fn of_machine(options: Options, flags: &Flags, trusted_pem: Option<String>) -> Options {
    Options {
        vu_memory_limit: flags.load.vu_memory_limit,
        proxies: environment::proxies(&flags.test.system_env),
        freezes_env: flags.has_feature("freeze-env"),
        keeps_async_contexts: flags.has_feature("async-metric-context"),
        no_http2: environment::forbids_http2(&flags.test.system_env),
        trusted_pem,
        ..options
    }
}

/// The options that a script exports, or those that an archive has: they were put together when it was packed.
pub fn own_options(script: &Script, log: &Logger) -> Result<Options, Failure> {
    match &script.archive {
        Some(archive) => config::archive_layer(&archive.metadata.options, log),
        None => config::script_layer(script.program.options_json(), log),
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
