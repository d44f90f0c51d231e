//! Help texts of k6 as lists of names. Pure.
//!
//! A text has sections: a line that ends with a colon, then indented lines. Sections whose title ends with "Commands"
//! or "Flags" count; examples and descriptions do not, whatever they look like.

/// What a help text names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Help {
    /// Commands, in their order.
    pub commands: Vec<String>,
    /// Long flags without their dashes.
    pub flags: Vec<String>,
}

/// Reads the names of a help text.
pub(crate) fn names(text: &str) -> Help {
    let (mut help, mut section) = (Help::default(), "");
    for line in text.lines() {
        if !line.starts_with([' ', '\t']) {
            // An empty line ends nothing: a description may have one.
            if !line.trim().is_empty() {
                section = line.trim().strip_suffix(':').unwrap_or_default();
            }
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let mut words = line.split_whitespace();
        if section.ends_with("Commands") && indent == 2 {
            help.commands.extend(words.next().map(str::to_owned));
        } else if section.ends_with("Flags") && indent <= 6 {
            let first = words.next().filter(|word| word.starts_with('-'));
            let long = first.into_iter().chain(words.next()).find_map(|word| word.strip_prefix("--"));
            help.flags.extend(long.map(|name| name.trim_end_matches(',').to_owned()));
        }
    }
    help
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_flags_are_read_and_examples_are_not() {
        let text = "\
Runs things.

Usage:
  tool [command]

Core Commands:
  new         Create a thing
  run         Run: a thing

Additional Commands:
  x-y         Others

Flags:
  -o, --once               once, or
                           --never at all
      --out-put string     where to: one of
                            (default \"--x\")

      --late               behind an empty line

Global Flags:
  -h, --help   Show help

Examples:
  # New
  $ tool new --force

Use \"tool [command] --help\" for more.
  --not-a-flag
";
        let help = names(text);
        assert_eq!(help.commands, ["new", "run", "x-y"]);
        assert_eq!(help.flags, ["once", "out-put", "late", "help"]);
        assert_eq!(names("no sections\n  --at-all\n"), Help::default());
    }
}
