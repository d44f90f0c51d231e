//! Databases: PostgreSQL in the clear and encrypted, MariaDB the same and on its unix socket, files of SQLite.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::suite::{Suite, certificate, free_port, is_installed, start};

const PASSWORD: &str = "secret";

/// SQLite is a part of the binary; the other two are programs.
pub(super) fn cases(suite: &Suite) -> Result<(), String> {
    let file = suite.fresh("sqlite")?.join("test.db");
    suite.script("sql/sqlite", "a file", &[&format!("SQLITE={}", file.display())])?;
    postgres(suite)?;
    mariadb(suite)
}

fn postgres(suite: &Suite) -> Result<(), String> {
    if !["initdb", "postgres", "psql", "openssl"].into_iter().all(is_installed) {
        println!("sql/postgres: skipped: initdb, postgres, psql or openssl is missing");
        return Ok(());
    }
    let folder = suite.fresh("postgres")?;
    certificate(&folder)?;
    let data = folder.join("data").display().to_string();
    let secret = folder.join("password");
    fs::write(&secret, PASSWORD).map_err(|error| format!("cannot write {}: {error}", secret.display()))?;
    own(&folder, "postgres")?;
    let secret = format!("--pwfile={}", secret.display());
    let initdb = [&["initdb", "-D", &data, "-U", "tester", "-A", "scram-sha-256", &secret][..]].concat();
    finish(&as_user("postgres", &initdb))?;
    let rules = format!("{data}/pg_hba.conf");
    let known = fs::read_to_string(&rules).map_err(|error| format!("cannot read {rules}: {error}"))?;
    let first = "host all older 127.0.0.1/32 md5\nhost all oldest 127.0.0.1/32 password\n";
    fs::write(&rules, format!("{first}{known}")).map_err(|error| format!("cannot write {rules}: {error}"))?;
    let port = free_port()?;
    let place = format!("127.0.0.1:{port}");
    let options = [
        format!("port={port}"),
        String::from("listen_addresses=127.0.0.1"),
        format!("unix_socket_directories={}", folder.display()),
        String::from("ssl=on"),
        format!("ssl_cert_file={}/cert.pem", folder.display()),
        format!("ssl_key_file={}/key.pem", folder.display()),
        String::from("fsync=off"),
    ];
    let mut arguments = vec!["postgres", "-D", &data];
    options.iter().for_each(|option| arguments.extend(["-c", option.as_str()]));
    let server = as_user("postgres", &arguments);
    let words: Vec<&str> = server.iter().map(String::as_str).collect();
    let _server = start(words[0], &words[1..], &folder, port)?;
    let case = |what: &str, name: &str, tls: &str| {
        suite.script("sql/postgres", what, &[&format!("POSTGRES={name}"), &format!("TLS={tls}")])
    };
    let url = |user: &str, words: &str| format!("postgres://{user}:{PASSWORD}@{place}/postgres?{words}");
    case("in the clear", &url("tester", "sslmode=disable"), "0")?;
    let checked = format!("sslmode=verify-full&sslrootcert={}/cert.pem", folder.display());
    case("encrypted and checked", &url("tester", &checked), "1")?;
    case("encrypted", &url("tester", "application_name=onrush"), "1")?;
    let words = format!("host={} port={port} user=tester password={PASSWORD} dbname=postgres", folder.display());
    case("a unix socket", &words, "0")?;
    let users = format!(
        "SET password_encryption = md5; CREATE USER older SUPERUSER PASSWORD '{PASSWORD}'; \
         CREATE USER oldest SUPERUSER PASSWORD '{PASSWORD}'; DROP TABLE items"
    );
    let admin = url("tester", "sslmode=disable");
    finish(&["psql", "-q", &admin, "-c", &users].map(String::from))?;
    case("a password hashed with MD5", &url("older", "sslmode=prefer"), "1")?;
    finish(&["psql", "-q", &admin, "-c", "DROP TABLE items"].map(String::from))?;
    case("a password as it is", &url("oldest", "sslmode=disable"), "0")
}

fn mariadb(suite: &Suite) -> Result<(), String> {
    if !["mariadb-install-db", "mariadbd", "mariadb", "openssl"].into_iter().all(is_installed) {
        println!("sql/mysql: skipped: mariadb-install-db, mariadbd, mariadb or openssl is missing");
        return Ok(());
    }
    let folder = suite.fresh("mariadb")?;
    certificate(&folder)?;
    own(&folder, "mysql")?;
    let (data, socket) = (folder.join("data").display().to_string(), folder.join("s.sock").display().to_string());
    let (data, socket_option) = (format!("--datadir={data}"), format!("--socket={socket}"));
    let install = ["mariadb-install-db", "--no-defaults", &data, "--auth-root-authentication-method=normal"];
    finish(&as_user("mysql", &install))?;
    let port = free_port()?;
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let more = [
        format!("--port={port}"),
        format!("--ssl-cert={}", cert.display()),
        format!("--ssl-key={}", key.display()),
        String::from("--local-infile=0"),
    ];
    let mut arguments = vec!["mariadbd", "--no-defaults", &data, &socket_option, "--bind-address=127.0.0.1"];
    arguments.extend(more.iter().map(String::as_str));
    let server = as_user("mysql", &arguments);
    let words: Vec<&str> = server.iter().map(String::as_str).collect();
    let _server = start(words[0], &words[1..], &folder, port)?;
    let users = format!(
        "CREATE DATABASE IF NOT EXISTS test; CREATE USER tester@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'; \
         GRANT ALL ON *.* TO tester@'127.0.0.1'; CREATE USER tester@localhost IDENTIFIED BY '{PASSWORD}'; \
         GRANT ALL ON *.* TO tester@localhost"
    );
    let root = ["mariadb", "--no-defaults", "-uroot", &socket_option, "-e", &users].map(String::from);
    finish(&root)?;
    let case = |what: &str, place: &str, words: &str, tls: &str| {
        let name = format!("MYSQL=tester:{PASSWORD}@{place}/test{words}");
        suite.script("sql/mysql", what, &[&name, &format!("TLS={tls}")])
    };
    let place = format!("tcp(127.0.0.1:{port})");
    case("in the clear", &place, "", "0")?;
    case("encrypted", &place, "?tls=skip-verify", "1")?;
    case("a unix socket", &format!("unix({socket})"), "", "0")
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// The words of a program that refuses to run as root, as another user if need be.
fn as_user(user: &str, words: &[&str]) -> Vec<String> {
    let first: &[&str] = if is_root() { &["runuser", "-u", user, "--"] } else { &[] };
    first.iter().chain(words).map(|word| (*word).to_owned()).collect()
}

/// Gives a folder to the user that the program runs as.
fn own(folder: &Path, user: &str) -> Result<(), String> {
    match is_root() {
        true => finish(&["chown", "-R", user, &folder.display().to_string()].map(String::from)),
        false => Ok(()),
    }
}

/// Runs a program to its end.
fn finish(words: &[String]) -> Result<(), String> {
    let mut command = Command::new(&words[0]);
    let output = command.args(&words[1..]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", words[0]))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{}: {}\n{}", words.join(" "), output.status, String::from_utf8_lossy(&output.stderr))),
    }
}
