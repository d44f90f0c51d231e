//! What a script's own comments ask of the kit. The list is in `tests/parity/README.md`.

/// The directives of one script.
pub struct Directives {
    /// Compare console lines, in order.
    pub console: bool,
    /// Compare what the tools themselves say: warnings and errors by their text.
    pub log: bool,
    /// Compare standard output.
    pub stdout: bool,
    /// Run it through the wrapper that hands out the summary data.
    pub wrapped: bool,
    /// Examples run for a time, not for a number of iterations: their counts differ from run to run.
    pub counts: bool,
    /// The command, `run` unless told otherwise.
    pub command: String,
    /// The script comes by standard input.
    pub stdin: bool,
    /// Why the kit leaves it out.
    pub skip: Option<String>,
    /// Further arguments.
    pub arguments: Vec<String>,
    /// Further variables of the environment.
    pub environment: Vec<(String, String)>,
}

impl Directives {
    /// Of a script's text. A comment that the kit does not know is an error: it would compare less than it says.
    pub fn of(text: &str) -> Result<Self, String> {
        let mut directives = Directives::default();
        for directive in text.lines().filter_map(|line| line.trim().strip_prefix("// parity: ")) {
            let (name, rest) = directive.split_once(' ').unwrap_or((directive, ""));
            match (name, rest.is_empty()) {
                ("console", true) => directives.console = true,
                ("log", true) => directives.log = true,
                ("stdout", true) => directives.stdout = true,
                ("no-wrapper", true) => directives.wrapped = false,
                ("no-counts", true) => directives.counts = false,
                ("stdin", true) => directives.stdin = true,
                ("command", false) => rest.clone_into(&mut directives.command),
                ("skip", false) => directives.skip = Some(rest.to_owned()),
                ("args", false) => directives.arguments.extend(rest.split_whitespace().map(str::to_owned)),
                ("env", false) => {
                    let (name, value) = rest.split_once('=').ok_or_else(|| format!("no = in \"{directive}\""))?;
                    directives.environment.push((name.to_owned(), value.to_owned()));
                }
                _ => return Err(format!("unknown directive \"{directive}\": tests/parity/README.md lists them")),
            }
        }
        if text.contains("from \"onrush/") || text.contains("from 'onrush/") {
            directives.skip.get_or_insert_with(|| "k6 has no modules of onrush".to_owned());
        }
        Ok(directives)
    }
}

impl Default for Directives {
    fn default() -> Self {
        Directives {
            console: false,
            log: false,
            stdout: false,
            wrapped: true,
            counts: true,
            command: "run".to_owned(),
            stdin: false,
            skip: None,
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_directives() {
        let text =
            "// parity: console\n// parity: args --vus 2\n  // parity: env A=b=c\n// parity: args -q\nexport {};\n";
        let found = Directives::of(text).unwrap();
        assert!(found.console && found.wrapped && !found.log);
        assert_eq!(found.arguments, ["--vus", "2", "-q"]);
        assert_eq!(found.environment, [("A".to_owned(), "b=c".to_owned())]);
    }

    #[test]
    fn an_unknown_comment_is_an_error() {
        for text in ["// parity: consol", "// parity: console lines", "// parity: args", "// parity: env A"] {
            assert!(Directives::of(text).is_err(), "{text}");
        }
    }
}
