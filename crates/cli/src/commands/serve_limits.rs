//! The flags of `onrush serve` that say what it accepts: sizes, times, memory for bodies, the certificate.
//!
//! One table: each flag with its help and what it sets. Defaults are those of `ServerConfig`, shown in the help.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use server::{CertificateFiles, ServerConfig};
use units::{Span, size};

use crate::failure::Failure;

/// What a flag sets.
type Setting = (&'static str, &'static str, &'static str, fn(&mut ServerConfig, &str) -> Option<()>);

const SIZE: &str = "a size, as in 500, 64k or 10m";
const TIME: &str = "a time, as in 500ms, 30s or 10m";

const SETTINGS: &[Setting] = &[
    ("max-head", SIZE, "Answer 431 to a request head above this size [default: 64k]", |config, text| {
        config.limits.head = usize::try_from(size::parse(text)?).ok()?;
        Some(())
    }),
    ("max-body", SIZE, "Answer 413 to a request body above this size [default: any size]", |config, text| {
        config.limits.body = Some(size::parse(text)?);
        Some(())
    }),
    (
        "max-kept",
        SIZE,
        "Answer 503 when routes such as /post would keep more than this, all bodies together [default: 512m]",
        |config, text| {
            config.limits.kept = size::parse(text)?;
            Some(())
        },
    ),
    ("head-timeout", TIME, "Answer 408 when a request head takes longer; 0: never [default: 60s]", |config, text| {
        config.limits.head_time = time(text)?;
        Some(())
    }),
    (
        "body-timeout",
        TIME,
        "Answer 408 when a request body pauses for longer; 0: never [default: 60s]",
        |config, text| {
            config.limits.body_time = time(text)?;
            Some(())
        },
    ),
    (
        "idle-timeout",
        TIME,
        "Close a connection without a request for longer; 0: never [default: 10m]",
        |config, text| {
            config.limits.idle_time = time(text)?;
            Some(())
        },
    ),
    (
        "receive-size",
        SIZE,
        "Receive at most this much of a request body at once [default: 64k for apps, 256k for routes]",
        |config, text| {
            config.buffers.receive_size =
                Some(usize::try_from(size::parse(text)?).ok().filter(|n| (1..=1 << 30).contains(n))?);
            Some(())
        },
    ),
];

/// Adds the flags.
pub fn flags(command: Command) -> Command {
    let file = |name: &'static str, other: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("FILE").requires(other).help(help)
    };
    SETTINGS
        .iter()
        .fold(command, |command, (name, expected, help, _)| {
            let value = if *expected == SIZE { "SIZE" } else { "TIME" };
            let flag = Arg::new(*name).long(*name).value_name(value).help(*help);
            // Its name before 2026-11-22.
            command.arg(if *name == "receive-size" { flag.alias("buffer-size") } else { flag })
        })
        .arg(
            Arg::new("fresh-buffers")
                .long("fresh-buffers")
                .action(ArgAction::SetTrue)
                .help("Allocate memory for each piece of a body instead of reusing it (for comparisons)"),
        )
        .arg(file("certificate", "key", "Show this certificate to TLS clients (PEM) instead of one made at start"))
        .arg(file("key", "certificate", "Its private key (PEM)"))
}

/// Takes what the flags say.
pub fn apply(matches: &ArgMatches, config: &mut ServerConfig) -> Result<(), Failure> {
    for (name, expected, _, set) in SETTINGS {
        if let Some(text) = matches.get_one::<String>(name) {
            set(config, text).ok_or_else(|| Failure::of_flag(&format!("--{name}"), text, expected))?;
        }
    }
    config.buffers.reuse = !matches.get_flag("fresh-buffers");
    let file = |name| matches.get_one::<String>(name).map(PathBuf::from);
    config.certificate =
        file("certificate").zip(file("key")).map(|(certificate, key)| CertificateFiles { certificate, key });
    Ok(())
}

/// A duration, or 0.
fn time(text: &str) -> Option<Duration> {
    Span::parse(text).ok().and_then(Span::to_duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help names the defaults, which live elsewhere.
    #[test]
    fn defaults_are_those_of_the_help() {
        let defaults = ServerConfig::default();
        let mut config = ServerConfig::default();
        for (name, _, help, set) in SETTINGS.iter().filter(|s| !["max-body", "receive-size"].contains(&s.0)) {
            let default = help.split_once("[default: ").and_then(|(_, rest)| rest.strip_suffix(']')).expect(name);
            set(&mut config, default).expect(name);
        }
        assert_eq!((config.limits, config.buffers), (defaults.limits, defaults.buffers));
    }
}
