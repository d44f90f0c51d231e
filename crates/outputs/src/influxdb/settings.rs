//! The URL of `--out influxdb` or `--out xk6-influxdb` and the `K6_INFLUXDB_` variables. What the URL says counts.
//!
//! InfluxDB 1 has databases, users and retention policies; InfluxDB 2 has buckets of organizations, and tokens. The
//! rest is the same.

use std::collections::BTreeMap;
use std::time::Duration;

use units::suggest;
use wire::settings::Proxies;

use crate::post::{self, Address};
use crate::text::MomentForm;
use crate::variables::Variables;

/// What they say.
pub(crate) struct InfluxSettings {
    /// Where points go.
    pub(crate) address: Address,
    /// The URL that makes the database; InfluxDB 2 has none.
    pub(crate) create: Option<String>,
    pub(crate) every: Duration,
    pub(crate) moment: MomentForm,
    /// Parameters that change nothing, with their values and why.
    pub(crate) unused: Vec<(&'static str, String, &'static str)>,
    /// Tags that become fields.
    pub(crate) fields: Vec<(String, FieldKind)>,
}

/// Which InfluxDB is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

impl Version {
    /// The name of the output, k6's or that of its extension.
    pub(crate) fn output(self) -> &'static str {
        match self {
            Version::One => "influxdb",
            Version::Two => "xk6-influxdb",
        }
    }

    /// Parameters of the URL, and the variables that say the same.
    fn parameters(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Version::One => [&ONE[..], &BOTH].concat(),
            Version::Two => [&TWO[..], &BOTH].concat(),
        }
    }
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Text,
    Int,
    Float,
    Bool,
}

const TIMEOUT: Duration = Duration::from_secs(10);
const SECOND: u64 = 1_000_000_000;

/// Parameters for InfluxDB 1.
const ONE: [(&str, &str); 2] = [("consistency", "CONSISTENCY"), ("retention", "RETENTION")];
/// Parameters for InfluxDB 2. Its token is a variable alone: URLs are printed.
const TWO: [(&str, &str); 2] = [("organization", "ORGANIZATION"), ("bucket", "BUCKET")];
/// Parameters for both.
const BOTH: [(&str, &str); 6] = [
    ("precision", "PRECISION"),
    ("pushInterval", "PUSH_INTERVAL"),
    ("tagsAsFields", "TAGS_AS_FIELDS"),
    ("insecureSkipTLSVerify", "INSECURE"),
    ("concurrentWrites", "CONCURRENT_WRITES"),
    ("payloadSize", "PAYLOAD_SIZE"),
];

/// Variables that there is nothing for to say, their parameters, and why.
const UNUSED: [(&str, &str, &str); 2] = [
    ("CONCURRENT_WRITES", "concurrentWrites", "requests go one after the other, so that what is slow does not pile up"),
    ("PAYLOAD_SIZE", "payloadSize", "it is about UDP; requests are cut at 2 MB"),
];

impl InfluxSettings {
    pub(crate) fn read(
        version: Version,
        argument: &str,
        env: &BTreeMap<String, String>,
    ) -> Result<InfluxSettings, String> {
        let (place, parameters) = argument.split_once('?').unwrap_or((argument, ""));
        let proxies = proxies(env);
        let env = with_parameters(version, parameters, env)?;
        let given = Variables::new("K6_INFLUXDB_", &env);
        let place = if place.is_empty() { given.text("ADDR").unwrap_or("http://localhost:8086") } else { place };
        if place.starts_with("udp://") {
            let last = if version == Version::One { "DATABASE" } else { "BUCKET" };
            return Err(format!("InfluxDB by UDP is not offered; use http://HOST:8086/{last}"));
        }
        let url = post::check(place)?;
        // Database or bucket is the last part of the path; what stands before it is where InfluxDB is behind a proxy.
        let path = url.target.split('?').next().unwrap_or_default().trim_matches('/');
        let (prefix, last) = path.rsplit_once('/').map_or(("", path), |(prefix, last)| (prefix, last));
        let scheme = if url.tls { "https" } else { "http" };
        let slash = if prefix.is_empty() { "" } else { "/" };
        let base = format!("{scheme}://{}{slash}{prefix}", url.authority);
        let precision = given.text("PRECISION").unwrap_or("ns");
        let (mut address, create) = match version {
            Version::One => {
                let (mut address, create) = database(&base, &percent(last), precision, &given)?;
                let user = url.userinfo.as_ref().map(|(name, password)| (name.as_str(), password.as_deref()));
                if let Some((name, password)) =
                    user.or(given.text("USERNAME").map(|name| (name, given.text("PASSWORD"))))
                {
                    address.authorise(name, password.unwrap_or_default());
                }
                (address, Some(create))
            }
            Version::Two => (bucket(&base, &percent(last), precision, &given)?, None),
        };
        address.tls.insecure_skip_verify = given.switch("INSECURE")?;
        address.proxies = proxies;
        let mut unused = Vec::new();
        for (variable, name, why) in UNUSED {
            given.count(variable, 1)?;
            unused.extend(given.text(variable).map(|value| (name, value.to_owned(), why)));
        }
        Ok(InfluxSettings {
            address,
            create,
            every: given.span("PUSH_INTERVAL", Duration::from_secs(1))?,
            moment: moment(precision)?,
            unused,
            fields: fields(given.text("TAGS_AS_FIELDS").unwrap_or("vu:int,iter:int,url"))?,
        })
    }
}

/// Where points of a database of InfluxDB 1 go, and the URL that makes it.
fn database(base: &str, name: &str, precision: &str, given: &Variables<'_>) -> Result<(Address, String), String> {
    let name = if name.is_empty() { given.text("DB").unwrap_or("k6") } else { name };
    let pairs = [
        ("consistency", given.text("CONSISTENCY").unwrap_or_default()),
        ("db", name),
        ("precision", precision),
        ("rp", given.text("RETENTION").unwrap_or_default()),
    ];
    let address = Address::new("the URL", &format!("{base}/write?{}", query(&pairs)), TIMEOUT)?;
    let statement = format!("CREATE DATABASE {}", identifier(name));
    Ok((address, format!("{base}/query?{}", query(&[("db", ""), ("q", &statement)]))))
}

/// Where points of a bucket of InfluxDB 2 go, with its token.
fn bucket(base: &str, name: &str, precision: &str, given: &Variables<'_>) -> Result<Address, String> {
    let name = if name.is_empty() { given.text("BUCKET").unwrap_or_default() } else { name };
    if name.is_empty() {
        return Err(String::from("found no bucket, expected K6_INFLUXDB_BUCKET or http://HOST:8086/BUCKET"));
    }
    let pairs = [("bucket", name), ("org", given.text("ORGANIZATION").unwrap_or_default()), ("precision", precision)];
    let mut address = Address::new("the URL", &format!("{base}/api/v2/write?{}", query(&pairs)), TIMEOUT)?;
    address.headers.extend(given.text("TOKEN").map(|token| ("Authorization".to_owned(), format!("Token {token}"))));
    Ok(address)
}

/// Those of the environment, unless InfluxDB has one of its own.
fn proxies(env: &BTreeMap<String, String>) -> Proxies {
    let given = Variables::new("K6_INFLUXDB_", env);
    match given.text("PROXY").map(str::to_owned) {
        Some(own) => Proxies { http: Some(own.clone()), https: Some(own), no_proxy: None, even_local: true },
        None => given.proxies(),
    }
}

/// The environment with the URL's parameters in place of the variables of the same meaning.
fn with_parameters(
    version: Version,
    parameters: &str,
    env: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let expected = version.parameters();
    let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    let ours = env.iter().filter(|(name, _)| name.starts_with("K6_INFLUXDB_"));
    let mut all: BTreeMap<String, String> = ours.map(|(name, value)| (name.clone(), value.clone())).collect();
    for pair in parameters.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let known = expected.iter().find(|(known, _)| *known == name);
        let (_, variable) = known.ok_or_else(|| {
            let hint = suggest::hint(name, names.iter().copied());
            format!("unknown parameter '{name}'{hint}, expected one of {}", names.join(", "))
        })?;
        all.insert(format!("K6_INFLUXDB_{variable}"), percent(value));
    }
    Ok(all)
}

fn moment(precision: &str) -> Result<MomentForm, String> {
    let unit = match precision {
        "n" | "ns" => 1,
        "u" | "us" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3_600 * SECOND,
        other => return Err(format!("precision: found '{other}', expected one of ns, us, ms, s, m, h")),
    };
    Ok(MomentForm::Unix(unit))
}

fn fields(text: &str) -> Result<Vec<(String, FieldKind)>, String> {
    let field = |part: &str| {
        let (name, kind) = part.split_once(':').unwrap_or((part, "string"));
        let kind = match kind {
            "string" => FieldKind::Text,
            "int" => FieldKind::Int,
            "float" => FieldKind::Float,
            "bool" => FieldKind::Bool,
            _ => {
                return Err(format!("tagsAsFields: found '{part}', expected name or name:int, :float, :bool, :string"));
            }
        };
        Ok((name.to_owned(), kind))
    };
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(field).collect()
}

/// A name of InfluxDB's query language, in quotes unless it is a word.
fn identifier(name: &str) -> String {
    let is_word = !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match is_word {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

fn query(pairs: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

fn percent(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(argument: &str, env: &[(&str, &str)]) -> Result<InfluxSettings, String> {
        read_for(Version::One, argument, env)
    }

    fn read_for(version: Version, argument: &str, env: &[(&str, &str)]) -> Result<InfluxSettings, String> {
        let env = env.iter().map(|(name, value)| (format!("K6_INFLUXDB_{name}"), (*value).to_owned())).collect();
        InfluxSettings::read(version, argument, &env)
    }

    #[test]
    fn influxdb_2_has_buckets_and_tokens() {
        let env = [("ORGANIZATION", "my org"), ("BUCKET", "b"), ("TOKEN", "t=="), ("CONCURRENT_WRITES", "4")];
        let settings = read_for(Version::Two, "http://h:1", &env).unwrap();
        assert_eq!(settings.address.url, "http://h:1/api/v2/write?bucket=b&org=my+org&precision=ns");
        assert_eq!(settings.address.headers, [("Authorization".to_owned(), "Token t==".to_owned())]);
        assert_eq!((settings.create, settings.unused.len()), (None, 1));
        let of_url = read_for(Version::Two, "http://h:1/x?organization=o&precision=ms", &env).unwrap();
        assert_eq!(of_url.address.url, "http://h:1/api/v2/write?bucket=x&org=o&precision=ms");
        let wrong = |argument: &str| read_for(Version::Two, argument, &[]).map(|_| ()).unwrap_err();
        assert_eq!(wrong(""), "found no bucket, expected K6_INFLUXDB_BUCKET or http://HOST:8086/BUCKET");
        assert!(wrong("http://h/b?retention=w").starts_with("unknown parameter 'retention', expected one of organ"));
    }

    #[test]
    fn the_url_counts_before_the_variables() {
        let settings =
            read("http://u:p%20w@h:1/a%2Fb?precision=s", &[("PRECISION", "ms"), ("RETENTION", "rp")]).unwrap();
        assert_eq!(settings.address.url, "http://h:1/write?consistency=&db=a%2Fb&precision=s&rp=rp");
        assert_eq!(settings.create.as_deref(), Some("http://h:1/query?db=&q=CREATE+DATABASE+%22a%2Fb%22"));
        assert_eq!(settings.moment, MomentForm::Unix(SECOND));
        assert_eq!(settings.address.headers, [("Authorization".to_owned(), "Basic dTpwIHc=".to_owned())]);
        let behind = read("http://h:1/metrics/influx/k6", &[]).unwrap();
        assert!(behind.address.url.starts_with("http://h:1/metrics/influx/write?consistency=&db=k6&"));
        assert!(behind.create.unwrap().starts_with("http://h:1/metrics/influx/query?db=&q="));
        let standard = read("", &[]).unwrap();
        assert_eq!(standard.address.url, "http://localhost:8086/write?consistency=&db=k6&precision=ns&rp=");
        assert!(standard.unused.is_empty());
        assert_eq!(read("", &[("PROXY", "http://p:3")]).unwrap().address.proxies.http.as_deref(), Some("http://p:3"));
        let unused = read("?concurrentWrites=4", &[("PAYLOAD_SIZE", "9")]).unwrap().unused;
        let named: Vec<_> = unused.iter().map(|(name, value, _)| format!("{name}={value}")).collect();
        assert_eq!(named, ["concurrentWrites=4", "payloadSize=9"]);
        assert_eq!(standard.fields[2], ("url".to_owned(), FieldKind::Text));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |argument: &str, env: &[(&str, &str)]| read(argument, env).map(|_| ()).unwrap_err();
        assert!(wrong("http://h/d?precission=s", &[]).starts_with("unknown parameter 'precission'; did you mean"));
        assert_eq!(wrong("", &[("PRECISION", "x")]), "precision: found 'x', expected one of ns, us, ms, s, m, h");
        assert!(wrong("", &[("TAGS_AS_FIELDS", "vu:byte")]).starts_with("tagsAsFields: found 'vu:byte'"));
        assert!(wrong("", &[("PUSH_INTERVAL", "0s")]).contains("expected a duration above 0"));
        assert_eq!(wrong("udp://h:1/d", &[]), "InfluxDB by UDP is not offered; use http://HOST:8086/DATABASE");
    }
}
