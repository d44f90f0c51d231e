//! Invariants of ARCHITECTURE.md that are a matter of who names what: a table of words, who may write them, and why.
//!
//! What Cargo keeps by itself (a crate that is no dependency cannot be imported) is in the table too, since a line in a
//! manifest is quickly added.

use super::Circles;
use crate::finding::{Finding, Rule};
use crate::workspace::{Place, Source, Token, Workspace};

/// Words, who may not write them, and why.
struct Boundary {
    /// Names of crates, as a path begins; `unsafe` and `qjs` (QuickJS's raw calls) anywhere in the code.
    words: &'static [&'static str],
    /// Folders and files, from the root, where they may not stand.
    within: &'static [&'static str],
    /// Folders and files within those where they may.
    except: &'static [&'static str],
    reason: &'static str,
}

const BOUNDARIES: &[Boundary] = &[
    Boundary {
        words: &["metrics", "engine", "report", "script", "host", "rquickjs"],
        within: &["crates/wire/"],
        except: &[],
        reason: "wire knows no metric, user, tag or JavaScript: it returns timings as a value",
    },
    Boundary {
        words: &["tokio", "socket2", "libc", "rustix", "wire"],
        within: &["crates/metrics/", "crates/report/"],
        except: &[],
        reason: "metrics and report read no clock and no socket: time arrives inside the sample",
    },
    Boundary {
        words: &["tokio", "socket2", "libc", "rustix", "wire", "fleet", "script", "host", "rquickjs"],
        within: &["crates/journal/"],
        except: &[],
        reason: "the journal knows files and samples: who sends its frames asks for them, who has secrets hides them",
    },
    Boundary {
        words: &["metrics", "journal"],
        within: &["crates/fleet/"],
        except: &[],
        reason: "fleet carries what agents measured as bytes, and knows no metric",
    },
    Boundary {
        words: &["wire", "script", "host", "rquickjs"],
        within: &["crates/engine/"],
        except: &[],
        reason: "engine has no network and no JavaScript: it drives what implements its trait",
    },
    Boundary {
        words: &["engine", "metrics", "script", "host", "report"],
        within: &["crates/server/"],
        except: &[],
        reason: "the server knows nothing of a test: tests are aimed at it",
    },
    Boundary {
        words: &["modules"],
        within: &["crates/script/", "crates/extensions/"],
        except: &[],
        reason: "script knows no module: `script::builtins` says what the loader wants of them",
    },
    Boundary {
        words: &["rquickjs"],
        within: &["crates/cli/", "crates/engine/", "crates/metrics/", "crates/report/", "crates/server/", "xtask/"],
        except: &[],
        reason: "JavaScript stays behind the script crates",
    },
    Boundary {
        words: &["qjs"],
        within: &["crates/"],
        except: HOST,
        reason: "only the host touches raw values of QuickJS, because only there types keep them alive",
    },
    Boundary {
        words: &["unsafe"],
        within: &["crates/", "xtask/"],
        except: UNSAFE,
        reason: "unsafe code lies in the host and in the socket files of wire, where it is argued and tested",
    },
];

const HOST: &[&str] = &["crates/host/"];
const UNSAFE: &[&str] = &["crates/host/", "crates/wire/src/io/"];

pub fn findings(workspace: &Workspace, circles: &Circles) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (package, graph) in workspace.packages.iter().zip(&circles.of) {
        for (file, source) in package.sources.iter().enumerate() {
            let mut words: Vec<(String, usize)> = Vec::new();
            let imported = graph.imports.foreign.iter().filter(|(of, ..)| *of == file);
            words.extend(imported.map(|(_, name, line)| (name.clone(), *line)));
            if source.place == Place::Product {
                raw_words(source, &mut words);
            }
            findings.extend(BOUNDARIES.iter().filter_map(|boundary| crossed(boundary, &source.path, &words)));
        }
    }
    findings
}

/// Raw calls and unsafe code, which are no imports of a crate.
fn raw_words(source: &Source, words: &mut Vec<(String, usize)>) {
    source.each_token(&mut |token| {
        if let Token::Ident(ident) = token
            && (ident == "unsafe" || ident == "qjs")
        {
            words.push((ident.to_string(), ident.span().start().line));
        }
    });
}

fn crossed(boundary: &Boundary, path: &str, words: &[(String, usize)]) -> Option<Finding> {
    let within = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    if !within(boundary.within) || within(boundary.except) {
        return None;
    }
    let mut over = words.iter().filter(|(word, _)| boundary.words.contains(&word.as_str()));
    let (word, line) = over.next()?;
    Some(Finding {
        rule: Rule::Boundary,
        subject: format!("{path}/{word}"),
        place: format!("{path}:{line}"),
        found: 1 + over.count(),
        allowed: 0,
        what: format!("`{word}` has no place in this file"),
        help: format!("{}; see the invariants in ARCHITECTURE.md", boundary.reason),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossings(path: &str, word: &str) -> usize {
        let words = [(word.to_owned(), 7)];
        BOUNDARIES.iter().filter_map(|boundary| crossed(boundary, path, &words)).count()
    }

    #[test]
    fn each_boundary_stops_what_it_names_and_nothing_else() {
        assert_eq!(crossings("crates/wire/src/pool.rs", "metrics"), 1);
        assert_eq!(crossings("crates/server/src/route.rs", "engine"), 1);
        assert_eq!(crossings("crates/server/src/route.rs", "wire"), 0);
        assert_eq!(crossings("crates/journal/src/parts.rs", "fleet"), 1);
        assert_eq!(crossings("crates/journal/src/parts.rs", "engine"), 0);
        assert_eq!(crossings("crates/wire/src/io/socket.rs", "unsafe"), 0);
        assert_eq!(crossings("crates/wire/src/pool.rs", "unsafe"), 1);
        assert_eq!(crossings("crates/modules/src/http/mod.rs", "qjs"), 1);
    }

    #[test]
    fn a_crossing_says_where_and_why() {
        let words = [("tokio".to_owned(), 3), ("tokio".to_owned(), 9)];
        let found = crossed(&BOUNDARIES[1], "crates/metrics/src/trend.rs", &words).unwrap();
        assert_eq!(
            found.to_string(),
            "crates/metrics/src/trend.rs:3: `tokio` has no place in this file \
             [boundary crates/metrics/src/trend.rs/tokio]\n    found 2, allowed 0\n    metrics and report read no \
             clock \
             and no socket: time arrives inside the sample; see the invariants in ARCHITECTURE.md"
        );
    }
}
