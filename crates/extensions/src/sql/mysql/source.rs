//! Where a MySQL database is and who asks: `user:password@tcp(host:port)/database?word=value`, as Go's driver reads it.

use std::cell::OnceCell;
use std::time::Duration;

use form_urlencoded::parse;
use script::Vu;
use units::Span;
use wire::client::TlsConfigs;

use crate::client::dial::{Certificates, Place};

const PORT: u16 = 3306;
/// Unless `timeout` says otherwise; Go's driver leaves it to the operating system.
const PATIENCE: Duration = Duration::from_secs(60);
/// Words of Go's client that change nothing here.
const IGNORED: [&str; 11] = [
    "allowFallbackToPlaintext",
    "allowNativePasswords",
    "allowOldPasswords",
    "charset",
    "checkConnLiveness",
    "collation",
    "columnsWithAlias",
    "connectionAttributes",
    "maxAllowedPacket",
    "rejectReadOnly",
    "writeTimeout",
];

/// Whether the connection is encrypted, and what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MysqlTls {
    /// Never.
    Off,
    /// Where the server can; the certificate is not checked.
    Preferred,
    /// Always; the certificate is not checked.
    Unchecked,
    /// Always; the certificate is checked.
    Checked,
}

/// A database and its user.
pub struct MysqlSource {
    /// Where.
    pub place: Place,
    /// Who.
    pub user: String,
    /// With what.
    pub password: String,
    /// The database; empty for none.
    pub database: String,
    /// How the connection is protected.
    pub tls: MysqlTls,
    /// How long connecting may take.
    pub patience: Duration,
    /// How long the server may be silent.
    pub silence: Option<Duration>,
    /// Columns of times become times.
    pub reads_times: bool,
    /// Rows that a statement found are counted, not those that it changed.
    pub counts_found: bool,
    /// Several statements in one text.
    pub takes_several: bool,
    /// Parameters are written into the text.
    pub writes_parameters: bool,
    /// A password may be sent as it is.
    pub sends_clear_password: bool,
    /// Variables of the session, and their values as SQL.
    pub variables: Vec<(String, String)>,
    configs: OnceCell<TlsConfigs>,
}

impl MysqlSource {
    /// Reads a data source name. The error says what is wrong with it.
    pub fn read(name: &str) -> Result<MysqlSource, String> {
        let (before, after) = match name.rsplit_once('/') {
            Some(parts) => parts,
            None if name.is_empty() => ("", ""),
            None => return Err(String::from("invalid DSN: missing the slash separating the database name")),
        };
        let (who, place) = before.rsplit_once('@').unwrap_or(("", before));
        let (user, password) = who.split_once(':').unwrap_or((who, ""));
        let (database, words) = after.split_once('?').unwrap_or((after, ""));
        let mut source = MysqlSource {
            place: read_place(place)?,
            user: user.to_owned(),
            password: password.to_owned(),
            database: percent_encoding::percent_decode_str(database).decode_utf8_lossy().into_owned(),
            tls: MysqlTls::Off,
            patience: PATIENCE,
            silence: None,
            reads_times: false,
            counts_found: false,
            takes_several: false,
            writes_parameters: false,
            sends_clear_password: false,
            variables: Vec::new(),
            configs: OnceCell::new(),
        };
        for (word, value) in parse(words.as_bytes()) {
            source.take(&word, &value)?;
        }
        Ok(source)
    }

    fn take(&mut self, word: &str, value: &str) -> Result<(), String> {
        match word {
            "tls" => self.tls = tls_mode(value)?,
            "timeout" => self.patience = time(value)?,
            "readTimeout" => self.silence = Some(time(value)?).filter(|time| !time.is_zero()),
            "parseTime" => self.reads_times = switch(value)?,
            "clientFoundRows" => self.counts_found = switch(value)?,
            "multiStatements" => self.takes_several = switch(value)?,
            "interpolateParams" => self.writes_parameters = switch(value)?,
            "allowCleartextPasswords" => self.sends_clear_password = switch(value)?,
            "loc" if value != "UTC" => {
                return Err(format!("loc: found {value:?}, expected UTC: times are read in UTC"));
            }
            "compress" if switch(value)? => return Err(String::from("compress: found true, expected false")),
            "serverPubKey" => return Err(String::from("serverPubKey is not offered: the server is asked for its key")),
            "loc" | "compress" => {}
            word if IGNORED.contains(&word) => {}
            word => self.variables.push((word.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// TLS as the words say it, made once.
    pub fn configs(&self, vu: &Vu) -> Result<&TlsConfigs, String> {
        if let Some(configs) = self.configs.get() {
            return Ok(configs);
        }
        let certificates = Certificates { is_unchecked: self.tls != MysqlTls::Checked, ..Certificates::default() };
        let configs = certificates.configs(vu, None)?;
        Ok(self.configs.get_or_init(|| configs))
    }
}

/// `tcp(host:port)`, `unix(path)`, `tcp`, or nothing for this machine.
fn read_place(text: &str) -> Result<Place, String> {
    let (network, address) = match text.split_once('(') {
        Some((network, rest)) => match rest.strip_suffix(')') {
            Some(address) => (network, address),
            None => return Err(String::from("invalid DSN: network address not terminated (missing closing brace)")),
        },
        None => (text, ""),
    };
    match network {
        "unix" => {
            let path = if address.is_empty() { "/tmp/mysql.sock" } else { address };
            Ok(Place { host: path.to_owned(), port: 0 })
        }
        "tcp" | "" => {
            let address = if address.is_empty() { "127.0.0.1" } else { address };
            let is_bare = !address.contains(':') || address.ends_with(']');
            let (host, port) = if is_bare { (address, "") } else { address.rsplit_once(':').unwrap_or((address, "")) };
            let port = if port.is_empty() { Ok(PORT) } else { port.parse() };
            let port = port.map_err(|_| format!("invalid DSN: the port of {address:?}: expected 1 to 65535"))?;
            Ok(Place { host: host.trim_matches(['[', ']']).to_owned(), port })
        }
        other => Err(format!("invalid DSN: found the network {other:?}, expected tcp or unix")),
    }
}

fn tls_mode(value: &str) -> Result<MysqlTls, String> {
    match value {
        "skip-verify" => Ok(MysqlTls::Unchecked),
        "preferred" => Ok(MysqlTls::Preferred),
        value => match switch(value) {
            Ok(true) => Ok(MysqlTls::Checked),
            Ok(false) => Ok(MysqlTls::Off),
            Err(_) => Err(format!("tls: found {value:?}, expected true, false, skip-verify or preferred")),
        },
    }
}

fn switch(value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "false" | "FALSE" | "False" => Ok(false),
        value => Err(format!("invalid bool value: {value}")),
    }
}

fn time(value: &str) -> Result<Duration, String> {
    let span = Span::parse(value).map_err(|_| format!("time: invalid duration {value:?}"))?;
    Ok(span.or_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_gos_driver_reads_it() {
        let source =
            MysqlSource::read("me:p@ss:w/rd@tcp([::1]:3307)/shop?parseTime=true&sql_mode=%27ANSI%27&timeout=2s");
        let source = source.unwrap();
        assert_eq!((source.user.as_str(), source.password.as_str()), ("me", "p@ss:w/rd"));
        assert_eq!(source.place, Place { host: String::from("::1"), port: 3307 });
        assert_eq!((source.database.as_str(), source.reads_times, source.patience.as_secs()), ("shop", true, 2));
        assert_eq!(source.variables, [(String::from("sql_mode"), String::from("'ANSI'"))]);
        let bare = MysqlSource::read("").unwrap();
        assert_eq!((bare.place, bare.tls), (Place { host: String::from("127.0.0.1"), port: 3306 }, MysqlTls::Off));
        let unix = MysqlSource::read("root@unix(/run/my.sock)/?tls=skip-verify").unwrap();
        assert_eq!((unix.place.host.as_str(), unix.place.port, unix.tls), ("/run/my.sock", 0, MysqlTls::Unchecked));
    }

    #[test]
    fn what_is_wrong_with_a_name_is_told() {
        let why = |name: &str| MysqlSource::read(name).map(|_| ()).unwrap_err();
        assert_eq!(why("nonsense"), "invalid DSN: missing the slash separating the database name");
        assert_eq!(why("a@udp(x)/"), "invalid DSN: found the network \"udp\", expected tcp or unix");
        assert_eq!(why("a@tcp(x:y)/"), "invalid DSN: the port of \"x:y\": expected 1 to 65535");
        assert_eq!(why("a@tcp(x/"), "invalid DSN: network address not terminated (missing closing brace)");
        assert_eq!(why("/?parseTime=maybe"), "invalid bool value: maybe");
        assert_eq!(why("/?tls=x"), "tls: found \"x\", expected true, false, skip-verify or preferred");
        assert_eq!(why("/?timeout=x"), "time: invalid duration \"x\"");
        assert_eq!(why("/?loc=Local"), "loc: found \"Local\", expected UTC: times are read in UTC");
    }
}
