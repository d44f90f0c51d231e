//! Kafka: the brokers of franz-go's kfake, built with Go. The script also speaks with franz-go's own client.

use std::process::Command;

use super::suite::{Suite, certificate};
use crate::go;

const FILES: [(&str, &str); 2] =
    [("go.mod", include_str!("../../kafka/go.mod")), ("server.go", include_str!("../../kafka/server.go"))];

/// The whole script against three clusters.
pub(super) fn cases(suite: &Suite) -> Result<(), String> {
    let built = suite.folder.join("kfake");
    let Some(program) = go::build(&built, ".", "brokers", &FILES)? else {
        println!("kafka: skipped: the brokers are of Go, and there is no go command");
        return Ok(());
    };
    let folder = suite.fresh("kafka")?;
    certificate(&folder)?;
    let mut serve = Command::new(program);
    serve.arg(&folder);
    let server = go::Server::start(serve, &["plain", "sasl", "tls"])?;
    let lists: Vec<String> = server
        .addresses
        .iter()
        .map(|list| list.split(',').map(|address| format!("\"{address}\"")).collect::<Vec<_>>().join(","))
        .collect();
    let [plain, sasl, tls] = &lists[..] else { return Err(String::from("expected three clusters")) };
    let variable = format!(
        "KAFKA={{\"plain\":[{plain}],\"sasl\":[{sasl}],\"tls\":[{tls}],\"authority\":\"{}\",\
         \"thresholds\":{{\"kafka_writer_message_count\":[\"count==1266\"],\
         \"kafka_reader_error_count\":[\"count==2\"]}}}}",
        folder.join("cert.pem").display()
    );
    suite.script("kafka", "three clusters", &[&variable])?;
    let members = format!(
        "KAFKA={{\"plain\":[{plain}],\"members\":true,\"thresholds\":{{\"checks\":[\"rate==1\"],\
         \"kafka_reader_message_count\":[\"count==600\"],\"kafka_reader_error_count\":[\"count==0\"]}}}}"
    );
    suite.script("kafka", "a group that grows", &[&members])
}
