//! Extensions that need nothing but a folder of their own: files, files of variables, and stores of values.

use std::fs;

use super::suite::Suite;

/// Files of variables. Each says its own name by all names that another one does not win.
const VARIABLES: &[(&str, &str)] = &[
    (".env", "ALL=base\nDEVELOPMENT=base\nLOCAL=base\nBASE=base\nGIVEN=base\n"),
    (".env.development", "ALL=development\nDEVELOPMENT=development\nLOCAL=development\n"),
    (".env.local", "ALL=local\nLOCAL=local\n"),
    (".env.development.local", "ALL=development.local\n"),
];

/// `k6/x/dotenv`, in a folder that has the files.
pub(super) fn dotenv(suite: &Suite) -> Result<(), String> {
    let folder = suite.fresh("dotenv")?;
    for (name, text) in VARIABLES {
        fs::write(folder.join(name), text).map_err(|error| format!("cannot write {name}: {error}"))?;
    }
    suite.script_in(&folder, "dotenv", "four files", &["GIVEN=flag"])
}

/// `k6/x/file`.
pub(super) fn file(suite: &Suite) -> Result<(), String> {
    let folder = suite.fresh("file")?;
    suite.script("file", "four users", &[&format!("FOLDER={}", folder.display())])
}

/// `k6/x/kv`: in memory, then in a file. That the file is read again, the tests of the command show.
pub(super) fn kv(suite: &Suite) -> Result<(), String> {
    suite.script("kv", "in memory", &[])?;
    let path = suite.fresh("kv")?.join("kv.redb");
    suite.script("kv", "in a file", &[&format!("KV={{\"backend\":\"disk\",\"path\":\"{}\"}}", path.display())])
}
