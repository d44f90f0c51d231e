//! The page of a module: its `types.d.ts` with the comments as prose and the declarations as code.

/// `k6/experimental/fs` has its page in `k6-experimental-fs.md`.
pub fn file_name(module: &str) -> String {
    module.trim_start_matches("https://").replace(['/', '.'], "-")
}

/// The whole page.
pub fn text(module: &str, types: &str) -> String {
    // The default export at the end says again what the names before it are.
    let types = types.split("\ndeclare const ").next().unwrap_or_default();
    let (intro, rest) = comment(types.trim_start()).unwrap_or_default();
    let mut page = format!("<!-- Made of the module's types.d.ts by the tests. -->\n\n# `{module}`\n\n{intro}");
    let mut rest = rest.trim_start();
    while !rest.is_empty() {
        let (prose, code) = comment(rest).unwrap_or((String::new(), rest));
        let end = code.find("\n/**").map_or(code.len(), |at| at + 1);
        let declaration = code[..end].trim();
        let title = titles(declaration);
        if !title.is_empty() {
            page += &format!("\n## {title}\n");
        }
        if !prose.is_empty() {
            page += &format!("\n{prose}");
        }
        if !declaration.is_empty() {
            page += &format!("\n```ts\n{declaration}\n```\n");
        }
        rest = code[end..].trim_start();
    }
    page
}

/// The names that a piece declares, as a heading; none for the default export and for re-exports.
fn titles(declaration: &str) -> String {
    if declaration.starts_with("declare global") {
        return "Globals".to_owned();
    }
    let mut names: Vec<&str> = Vec::new();
    for line in declaration.lines() {
        let Some(exported) = line.strip_prefix("export ") else { continue };
        let mut words = exported.split_whitespace().skip_while(|word| *word == "declare");
        let keyword = words.next().unwrap_or_default();
        if !["function", "const", "let", "class", "interface", "type", "namespace"].contains(&keyword) {
            continue;
        }
        let name = words.next().unwrap_or_default();
        let name = name.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next().unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // A group of constants goes by the first of them.
    let more = if names.len() > 4 { ", …" } else { "" };
    names.truncate(if names.len() > 4 { 1 } else { 4 });
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ") + more
}

/// The comment at the beginning as Markdown, and what follows it.
fn comment(text: &str) -> Option<(String, &str)> {
    let (comment, rest) = text.strip_prefix("/**")?.split_once("*/")?;
    let mut markdown = String::new();
    let mut is_example = false;
    for line in comment.trim_matches(|c: char| c == '\n' || c == ' ').lines() {
        let line = line.trim_start();
        let line = line.strip_prefix("* ").or_else(|| line.strip_prefix('*')).unwrap_or(line);
        let tag = line.strip_prefix('@').map(|tag| tag.split_once(' ').unwrap_or((tag, "")));
        if is_example && tag.is_some() {
            markdown += "```\n\n";
            is_example = false;
        }
        match tag {
            Some(("param", about)) => {
                let (name, about) = about.split_once(' ').unwrap_or((about, ""));
                markdown += &format!("- `{name}`: {}\n", about.trim_start_matches("- "));
            }
            Some(("throws", about)) => markdown += &format!("- Throws {about}\n"),
            Some(("returns", about)) => markdown += &format!("- Returns {about}\n"),
            Some(("example", _)) => {
                markdown += "```js\n";
                is_example = true;
            }
            _ => markdown += &format!("{line}\n"),
        }
    }
    if is_example {
        markdown += "```\n";
    }
    Some((markdown, rest))
}

#[test]
fn a_page_has_prose_headings_and_code() {
    let types = "/**\n * Timers.\n */\n\n/** Calls. @x\n * @param delay in milliseconds\n * @throws TypeError never\n \
        */\n\
                 export function wait(delay: number): void;\n\ndeclare const timers: {};\nexport default timers;\n";
    let page = "<!-- Made of the module's types.d.ts by the tests. -->\n\n# `k6/timers`\n\nTimers.\n\n## `wait`\n\n\
                Calls. @x\n- `delay`: in milliseconds\n- Throws TypeError never\n\n\
                ```ts\nexport function wait(delay: number): void;\n```\n";
    assert_eq!(text("k6/timers", types), page);
    assert_eq!(file_name("https://jslib.k6.io/formdata/0.0.2/index.js"), "jslib-k6-io-formdata-0-0-2-index-js");
}
