//! Commands of k6, of version 2.2 and before, that are not offered, each with what to do instead. Told before the
//! command line is read, because their own flags are unknown here.

/// Name, and what to do.
pub const NOT_OFFERED: [(&str, &str); 7] = [
    ("cloud", "there is no cloud here; run the test with `onrush run`, and send its samples with --out"),
    ("login", "there is no cloud here"),
    ("x", "extensions are built in and have no commands; `onrush deps SCRIPT` lists those that a script uses"),
    ("pause", "a test that runs cannot be paused; `onrush run --paused --address HOST:PORT` lets it begin paused"),
    (
        "resume",
        "with --address, `curl -X PATCH` to `/v1/status` with {\"data\":{\"attributes\":{\"paused\":false}}} does it",
    ),
    ("stats", "with --address, `curl` to `/v1/metrics` shows them"),
    ("status", "with --address, `curl` to `/v1/status` shows it"),
];

/// The message for a command of k6 that is not offered.
pub fn refusal(name: &str) -> Option<String> {
    let (name, instead) = NOT_OFFERED.iter().find(|(known, _)| *known == name)?;
    Some(format!("the command '{name}' of k6 is not offered: {instead}"))
}
