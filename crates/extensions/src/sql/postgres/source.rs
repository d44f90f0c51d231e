//! Where a PostgreSQL database is and who asks: a URL, or words such as `host=db user=me`, as Go's driver reads them.

use std::cell::OnceCell;
use std::fs;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use script::Vu;
use url::Url;
use wire::client::TlsConfigs;

use crate::client::dial::{Certificates, Place};

const PORT: u16 = 5432;
/// Unless `connect_timeout` says otherwise; Go's driver has none.
const PATIENCE: Duration = Duration::from_secs(60);
const SSL_MODES: [(&str, SslMode); 6] = [
    ("disable", SslMode::Disable),
    // It would begin in the clear; either is allowed.
    ("allow", SslMode::Prefer),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-full", SslMode::VerifyFull),
    ("verify-ca", SslMode::VerifyCa),
];
/// Words that stand in the environment for those that are missing.
const ENVIRONMENT: [(&str, &str); 8] = [
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("dbname", "PGDATABASE"),
    ("sslmode", "PGSSLMODE"),
    ("application_name", "PGAPPNAME"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
];
/// Words of the client that the server does not know, and which change nothing here.
const IGNORED: [&str; 5] =
    ["fallback_application_name", "binary_parameters", "disable_prepared_binary_result", "sslinline", "sslsni"];

/// Whether the connection is encrypted, and what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslMode {
    /// Never.
    Disable,
    /// Where the server can.
    Prefer,
    /// Always; the certificate is not checked.
    Require,
    /// Always; the certificate is checked, and whose it is.
    VerifyFull,
    /// Read, and refused: the TLS library checks both or nothing.
    VerifyCa,
}

/// A database and its user.
pub struct PostgresSource {
    /// Where.
    pub place: Place,
    /// Who.
    pub user: String,
    /// With what.
    pub password: Option<String>,
    /// How the connection is protected.
    pub ssl: SslMode,
    /// How long connecting may take.
    pub patience: Duration,
    /// What the server is told at the beginning: the database, its settings.
    pub parameters: Vec<(String, String)>,
    root_file: Option<String>,
    identity_files: Option<(String, String)>,
    configs: OnceCell<TlsConfigs>,
}

impl PostgresSource {
    /// Reads a data source name. The error says what is wrong with it.
    pub fn read(name: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<PostgresSource, String> {
        let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| name.starts_with(scheme));
        let mut words = if is_url { of_url(name)? } else { of_words(name)? };
        for (word, variable) in ENVIRONMENT {
            if !words.iter().any(|(known, _)| known == word)
                && let Some(value) = environment(variable)
            {
                words.push((word.to_owned(), value));
            }
        }
        if !words.iter().any(|(word, _)| word == "user") {
            words.extend(environment("USER").map(|user| (String::from("user"), user)));
        }
        Self::of(words)
    }

    fn of(mut words: Vec<(String, String)>) -> Result<PostgresSource, String> {
        let mut take = |word: &str| {
            let at = words.iter().rposition(|(known, value)| known == word && !value.is_empty())?;
            Some(words.swap_remove(at).1)
        };
        let host = take("host").unwrap_or_else(|| String::from("localhost"));
        let port = take("port").map_or(Ok(PORT), |port| {
            port.parse().map_err(|_| format!("pq: port: found {port:?}, expected a number from 1 to 65535"))
        })?;
        let user = take("user").unwrap_or_else(|| String::from("postgres"));
        let ssl = ssl_mode(take("sslmode").as_deref().unwrap_or("require"))?;
        let patience = take("connect_timeout").map_or(Ok(PATIENCE), |seconds| match seconds.parse::<u64>() {
            Ok(0) => Ok(PATIENCE),
            Ok(seconds) => Ok(Duration::from_secs(seconds)),
            Err(_) => Err(format!("pq: connect_timeout: found {seconds:?}, expected whole seconds")),
        })?;
        let database = take("dbname").unwrap_or_else(|| user.clone());
        let (password, root_file) = (take("password"), take("sslrootcert"));
        let identity_files = take("sslcert").zip(take("sslkey"));
        // Values are read as text in these forms, whatever the server's own settings are.
        let fixed = [("user", user.as_str()), ("database", &database), ("client_encoding", "UTF8")];
        let fixed = fixed.into_iter().chain([("datestyle", "ISO, MDY"), ("extra_float_digits", "2")]);
        let mut parameters: Vec<(String, String)> =
            fixed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let names = ["client_encoding", "datestyle", "host", "port", "user", "password", "dbname", "sslmode"];
        let is_setting = |name: &str| !names.contains(&name) && !IGNORED.contains(&name);
        parameters.extend(words.into_iter().filter(|(name, _)| is_setting(name)));
        let place = match host.starts_with('/') {
            true => Place { host: format!("{host}/.s.PGSQL.{port}"), port: 0 },
            false => Place { host, port },
        };
        let configs = OnceCell::new();
        Ok(PostgresSource { place, user, password, ssl, patience, parameters, root_file, identity_files, configs })
    }

    /// TLS as the words say it, made once.
    pub fn configs(&self, vu: &Vu) -> Result<&TlsConfigs, String> {
        if let Some(configs) = self.configs.get() {
            return Ok(configs);
        }
        let read = |path: &String| {
            fs::read_to_string(path).map_err(|error| format!("pq: cannot read the certificate {path}: {error}"))
        };
        let authorities = self.root_file.as_ref().map(read).transpose()?.into_iter().collect();
        let identity = match &self.identity_files {
            Some((certificate, key)) => Some((read(certificate)?, read(key)?)),
            None => None,
        };
        let certificates = Certificates { authorities, identity, is_unchecked: self.ssl != SslMode::VerifyFull };
        let configs = certificates.configs(vu, None)?;
        Ok(self.configs.get_or_init(|| configs))
    }
}

fn ssl_mode(word: &str) -> Result<SslMode, String> {
    let known = SSL_MODES.iter().find(|(name, _)| *name == word);
    match known.map(|(_, mode)| *mode) {
        Some(SslMode::VerifyCa) => Err(String::from(
            "pq: sslmode: found verify-ca, expected verify-full, which checks the name too, or require, which checks \
             nothing",
        )),
        Some(mode) => Ok(mode),
        None => Err(format!(
            "pq: wrong value for \"sslmode\": {word:?} is not supported; supported values are disable, allow, prefer, \
             require, or verify-full"
        )),
    }
}

/// `postgres://user:password@host:port/database?word=value`.
fn of_url(name: &str) -> Result<Vec<(String, String)>, String> {
    let url = Url::parse(name).map_err(|error| format!("parse {name:?}: {error}"))?;
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let mut words = Vec::new();
    let mut add = |word: &str, value: String| {
        if !value.is_empty() {
            words.push((word.to_owned(), value));
        }
    };
    add("user", decoded(url.username()));
    add("password", decoded(url.password().unwrap_or_default()));
    add("host", decoded(url.host_str().unwrap_or_default().trim_matches(['[', ']'])));
    add("port", url.port().map(|port| port.to_string()).unwrap_or_default());
    add("dbname", decoded(url.path().trim_start_matches('/')));
    words.extend(url.query_pairs().map(|(word, value)| (word.into_owned(), value.into_owned())));
    Ok(words)
}

/// `host=db user=me password='a b'`.
fn of_words(name: &str) -> Result<Vec<(String, String)>, String> {
    let (mut words, mut rest) = (Vec::new(), name.trim_start());
    while !rest.is_empty() {
        let Some((word, value)) = rest.split_once('=') else {
            return Err(format!("missing \"=\" after {rest:?} in connection info string"));
        };
        let (value, after) = word_value(value.trim_start())?;
        words.push((word.trim_end().to_owned(), value));
        rest = after.trim_start();
    }
    Ok(words)
}

/// A value, in quotation marks if it has blanks, and what follows it. A backslash takes the next letter as it is.
fn word_value(text: &str) -> Result<(String, &str), String> {
    let (is_quoted, text) = match text.strip_prefix('\'') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (mut value, mut letters) = (String::new(), text.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            '\'' if is_quoted => return Ok((value, &text[at + 1..])),
            letter if !is_quoted && letter.is_whitespace() => return Ok((value, &text[at..])),
            letter => value.push(letter),
        }
    }
    if is_quoted {
        Err(String::from("unterminated quoted string literal in connection string"))
    } else {
        Ok((value, ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_and_words_say_the_same() {
        let url = "postgres://me:a%20b@db:6000/shop?sslmode=disable&search_path=x&connect_timeout=3";
        let words =
            "host=db port = 6000 user=me password='a b' dbname=shop sslmode=disable search_path=x connect_timeout=3";
        for name in [url, words] {
            let read = PostgresSource::read(name, &|_| None).unwrap();
            assert_eq!(read.place, Place { host: String::from("db"), port: 6000 }, "{name}");
            assert_eq!((read.user.as_str(), read.password.as_deref()), ("me", Some("a b")), "{name}");
            assert_eq!((read.ssl, read.patience), (SslMode::Disable, Duration::from_secs(3)), "{name}");
            let has = |word: &str, value: &str| read.parameters.contains(&(word.to_owned(), value.to_owned()));
            assert!(has("database", "shop") && has("search_path", "x") && has("user", "me"), "{name}");
        }
        let unix = PostgresSource::read("host=/run/pg user=me", &|_| None).unwrap();
        assert_eq!((unix.place.host.as_str(), unix.ssl), ("/run/pg/.s.PGSQL.5432", SslMode::Require));
    }

    #[test]
    fn the_environment_stands_for_what_is_missing() {
        let environment = |name: &str| match name {
            "PGHOST" => Some(String::from("db")),
            "PGSSLMODE" => Some(String::from("disable")),
            "USER" => Some(String::from("me")),
            _ => None,
        };
        let source = PostgresSource::read("sslmode=prefer", &environment).unwrap();
        assert_eq!((source.place.host.as_str(), source.ssl, source.user.as_str()), ("db", SslMode::Prefer, "me"));
    }

    #[test]
    fn what_is_wrong_with_a_name_is_told() {
        let why = |name: &str| PostgresSource::read(name, &|_| None).map(|_| ()).unwrap_err();
        assert_eq!(why("nonsense"), "missing \"=\" after \"nonsense\" in connection info string");
        assert_eq!(why("password='x"), "unterminated quoted string literal in connection string");
        assert_eq!(why("port=x"), "pq: port: found \"x\", expected a number from 1 to 65535");
        assert!(why("sslmode=maybe").contains("supported values are disable, allow"));
        assert!(why("sslmode=verify-ca").contains("expected verify-full"));
        assert_eq!(why("connect_timeout=soon"), "pq: connect_timeout: found \"soon\", expected whole seconds");
        assert!(why("postgres://[x").starts_with("parse \"postgres://[x\": "));
    }
}
