//! Where secrets come from: `--secret-source TYPE[=CONFIG]`, read and checked before the test.
//!
//! | type | configuration |
//! |---|---|
//! | `file` | a path, or `filename=PATH`: a file with a `key=value` in each line |
//! | `env` | nothing, or `prefix=TEXT`: variables of the environment |
//! | `url` | `urlTemplate=http://host/{key}` and more: `url.rs` |
//! | `mock` | `key=value,…`: for trying a script |
//!
//! Each may have `name=NAME`, and of several one has to be `default`.

use std::collections::BTreeMap;

use super::redactor::Redactor;
use super::url::UrlSource;

/// What can be asked for secrets.
pub enum SecretKind {
    /// All of them are known.
    Known(BTreeMap<String, String>),
    /// They are variables with this in front.
    Environment(String),
    /// They are fetched.
    Url(UrlSource),
}

/// A source and its name.
pub struct SecretSource {
    pub(super) name: String,
    pub kind: SecretKind,
    is_default: bool,
}

/// The sources of a run, and what hides their secrets.
#[derive(Default)]
pub struct Secrets {
    sources: Vec<SecretSource>,
    /// For `env` sources.
    environment: BTreeMap<String, String>,
    redactor: Redactor,
}

impl std::fmt::Debug for Secrets {
    /// The names alone.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.sources.iter().map(|source| &source.name)).finish()
    }
}

impl Secrets {
    /// The sources that these flags say.
    ///
    /// # Errors
    /// The message when one cannot work.
    pub fn read(flags: &[String], environment: BTreeMap<String, String>) -> Result<Secrets, String> {
        let mut sources: Vec<SecretSource> = Vec::new();
        for flag in flags {
            let source =
                SecretSource::read(flag, &environment).map_err(|why| format!("--secret-source {flag}: {why}"))?;
            if sources.iter().any(|known| known.name == source.name) {
                let name = &source.name;
                return Err(format!(
                    "--secret-source {flag}: there is a source '{name}' already; give one another name=…"
                ));
            }
            if source.is_default && sources.iter().any(|known| known.is_default) {
                return Err(format!("--secret-source {flag}: there is a default source already, expected one"));
            }
            sources.push(source);
        }
        Ok(Secrets { sources, environment, redactor: Redactor::default() })
    }

    /// What hides the secrets that the script was given.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The source of this name, or the default one.
    pub fn source(&self, name: Option<&str>) -> Result<&SecretSource, String> {
        if self.sources.is_empty() {
            return Err(String::from(
                "no secret sources are configured; give one, such as --secret-source=file=secrets.txt",
            ));
        }
        let found = match (name, &self.sources[..]) {
            (None, [one]) => Some(one),
            (None, all) => all.iter().find(|source| source.is_default),
            (Some(name), all) => all.iter().find(|source| source.name == name),
        };
        found.ok_or_else(|| {
            let known: Vec<_> = self.sources.iter().map(|source| source.name.as_str()).collect();
            let known = known.join(", ");
            match name {
                Some(name) => format!("no secret source with name '{name}' is configured, expected one of {known}"),
                None => {
                    format!("none of the secret sources {known} is the default; write 'default' into its configuration")
                }
            }
        })
    }

    /// A secret of a source that need not be fetched.
    pub fn known(&self, source: &SecretSource, key: &str) -> Result<String, String> {
        let (value, place) = match &source.kind {
            SecretKind::Known(values) => (values.get(key), String::new()),
            SecretKind::Environment(prefix) => {
                let name = format!("{prefix}{key}");
                (self.environment.get(&name), format!(" (the variable {name} is not set)"))
            }
            SecretKind::Url(_) => (None, String::new()),
        };
        match value {
            Some(value) => {
                self.redactor.add(value);
                Ok(value.clone())
            }
            None => Err(format!("the secret source '{}' has no value for '{key}'{place}", source.name)),
        }
    }

    /// Hides what was fetched.
    pub fn hide(&self, secret: &str) {
        self.redactor.add(secret);
    }
}

/// The parts of a configuration: names and values; a word alone has none.
pub(super) type Parts<'a> = Vec<(&'a str, Option<&'a str>)>;

fn parts(configuration: &str) -> Parts<'_> {
    let pairs = configuration.split(',').map(str::trim).filter(|part| !part.is_empty());
    pairs.map(|part| part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)))).collect()
}

impl SecretSource {
    fn read(flag: &str, environment: &BTreeMap<String, String>) -> Result<SecretSource, String> {
        let (kind, configuration) = flag.split_once('=').unwrap_or((flag, ""));
        let mut all = parts(configuration);
        let is_default = all.contains(&("default", None));
        let name = all.iter().find(|(name, _)| *name == "name").and_then(|(_, value)| *value);
        let name = name.unwrap_or(kind).to_owned();
        all.retain(|part| *part != ("default", None) && part.0 != "name");
        let kind = match kind {
            "file" => SecretKind::Known(file(&all)?),
            "mock" => SecretKind::Known(mock(&all)?),
            "env" => SecretKind::Environment(prefix(&all)?),
            "url" => SecretKind::Url(UrlSource::read(&all, environment)?),
            "cloud" => return Err(String::from("Onrush has no cloud, expected file, env, url or mock")),
            other => return Err(format!("'{other}' is no type of secret source, expected file, env, url or mock")),
        };
        Ok(SecretSource { name, kind, is_default })
    }
}

fn file(parts: &Parts<'_>) -> Result<BTreeMap<String, String>, String> {
    let path = match parts[..] {
        [(path, None)] | [("filename", Some(path))] => path,
        [] => return Err(String::from("the path is missing, expected file=PATH")),
        _ => return Err(String::from("expected file=PATH, or file=filename=PATH,name=NAME")),
    };
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| match line.split_once('=') {
            Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
            // The line is not shown: it may be a secret whose key was forgotten.
            None => Err(format!("line {} of {path} has no '=', expected key=value", number + 1)),
        })
        .collect()
}

fn mock(parts: &Parts<'_>) -> Result<BTreeMap<String, String>, String> {
    let pair = |(key, value): &(&str, Option<&str>)| match value {
        Some(value) => Ok(((*key).to_owned(), (*value).to_owned())),
        None => Err(format!("'{key}' has no value, expected key=value")),
    };
    parts.iter().map(pair).collect()
}

fn prefix(parts: &Parts<'_>) -> Result<String, String> {
    match parts[..] {
        [] => Ok(String::new()),
        [("prefix", Some(prefix))] => Ok(prefix.to_owned()),
        _ => Err(String::from("expected env, or env=prefix=TEXT")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(flags: &[&str]) -> Result<Secrets, String> {
        let environment = BTreeMap::from([(String::from("APP_TOKEN"), String::from("t"))]);
        Secrets::read(&flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>(), environment)
    }

    fn get(secrets: &Secrets, source: Option<&str>, key: &str) -> Result<String, String> {
        secrets.known(secrets.source(source)?, key)
    }

    #[test]
    fn sources_are_named_and_one_is_the_default() {
        let secrets = read(&["mock=a=1,b=x=y", "env=prefix=APP_,name=e,default"]).expect("both are right");
        assert_eq!(get(&secrets, Some("mock"), "b"), Ok(String::from("x=y")));
        assert_eq!(get(&secrets, None, "TOKEN"), Ok(String::from("t")));
        let missing = "the secret source 'e' has no value for 'NO' (the variable APP_NO is not set)";
        assert_eq!(get(&secrets, Some("e"), "NO"), Err(String::from(missing)));
        let unknown = "no secret source with name 'f' is configured, expected one of mock, e";
        assert_eq!(get(&secrets, Some("f"), "a"), Err(String::from(unknown)));
        let secrets = read(&["mock=a=1"]).expect("one is enough");
        assert_eq!(get(&secrets, None, "a"), Ok(String::from("1")));
        assert_eq!(secrets.redactor().text("a1"), "a***SECRET_REDACTED***");
        let none = "no secret sources are configured; give one, such as --secret-source=file=secrets.txt";
        assert_eq!(get(&Secrets::default(), None, "a"), Err(String::from(none)));
    }

    #[test]
    fn what_cannot_work_is_said() {
        for (flags, message) in [
            (&["no=1"][..], "--secret-source no=1: 'no' is no type of secret source, expected file, env, url or mock"),
            (&["mock=a=1", "mock"], "--secret-source mock: there is a source 'mock' already; give one another name=…"),
            (&["mock=a"], "--secret-source mock=a: 'a' has no value, expected key=value"),
            (&["file"], "--secret-source file: the path is missing, expected file=PATH"),
            (
                &["file=/not/there"],
                "--secret-source file=/not/there: cannot read /not/there: No such file or directory (os error 2)",
            ),
            (
                &["url=bogus=1"],
                "--secret-source url=bogus=1: 'bogus' is no setting, expected config, urlTemplate, method, \
                headers.NAME, timeout, responsePath, maxRetries, retryBackoff, requestsPerMinuteLimit or requestsBurst",
            ),
            (&["url"], "--secret-source url: urlTemplate is missing, expected urlTemplate=http://host/{key}"),
            (
                &["url=urlTemplate=http://h/"],
                "--secret-source url=urlTemplate=http://h/: urlTemplate has no {key}, \
                which stands for the secret's name",
            ),
        ] {
            assert_eq!(read(flags).err().as_deref(), Some(message));
        }
    }
}
