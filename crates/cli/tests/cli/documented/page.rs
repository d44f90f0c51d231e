//! A page taken apart: files it shows by name, commands it shows, and what it says of those that cannot be run.

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// What is behind the fence.
    pub language: &'a str,
    /// Of the fence, from 1.
    pub line: usize,
    /// What is between the fences.
    pub text: String,
}

/// The blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (index, line) in page.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (&mut open, fence) {
            (None, Some(language)) => {
                open = Some(Block { language: language.trim(), line: index + 1, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

impl Block<'_> {
    /// The file that the first line names (`// first.js`, `# plan.toml`), and its text.
    pub fn file(&self) -> Option<(&str, &str)> {
        let (first, rest) = self.text.split_once('\n')?;
        let name = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "))?;
        let is_name = name.contains('.') && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        is_name.then_some((name, rest))
    }

    /// The commands to run, as lines for a shell; none for blocks that are no commands.
    pub fn commands(&self) -> Option<String> {
        match self.language {
            "sh" => Some(self.text.clone()),
            "console" => {
                Some(self.text.lines().filter_map(|line| line.strip_prefix("$ ")).map(|l| format!("{l}\n")).collect())
            }
            _ => None,
        }
    }

    /// Why the commands cannot be run; the block says so to its reader too.
    pub fn reason(&self) -> Option<&str> {
        self.text.lines().find_map(|line| Some(line.split_once("# not tested: ")?.1.trim()))
    }

    /// The exit code that the block promises.
    pub fn exit_code(&self) -> i32 {
        let told = self.text.lines().find_map(|line| line.split_once("# exit code ")?.1.trim().parse().ok());
        told.unwrap_or(0)
    }

    /// Words of the output that a `console` block shows. Figures differ from run to run, words do not.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let is_shown = self.language == "console";
        let lines = self.text.lines().filter(move |line| is_shown && !line.starts_with("$ "));
        lines.flat_map(|line| line.split(|c: char| !c.is_alphabetic())).filter(|word| word.len() > 2)
    }
}

#[test]
fn takes_a_page_apart() {
    let page = "A\n\n```js\n// a.js\nlet x\n```\n  ```console\n$ onrush x   # exit code 99\nerror: no \
        such\n```\n```sh\n# not tested: needs k6\nk6\n```\n";
    let found = blocks(page);
    assert_eq!(found.len(), 3);
    assert_eq!((found[0].language, found[0].line, found[0].file()), ("js", 3, Some(("a.js", "let x\n"))));
    assert_eq!((found[0].commands(), found[0].exit_code()), (None, 0));
    assert_eq!(
        (found[1].commands().unwrap_or_default().as_str(), found[1].exit_code()),
        ("onrush x   # exit code 99\n", 99)
    );
    assert_eq!(found[1].words().collect::<Vec<_>>(), ["error", "such"]);
    assert_eq!((found[2].reason(), found[2].file()), (Some("needs k6"), None));
}
