//! Readers of command lines, archives and requests of a recorded program, for `cargo xtask fuzz`.
//!
//! Most give what they read, because what must hold of it (that a script compiles) is known elsewhere.

use std::ffi::OsString;
use std::path::Path;

use crate::archive;
use crate::commands::convert::curl;
use crate::commands::debug::messages;
use crate::commands::record::message::Message;
use crate::commands::run::start::limits::FailOn;
use crate::quick::recognise::{Recognised, recognise};

/// A file of curl's commands as a test.
pub fn curl_commands(text: &str) -> convert::Converted {
    curl::convert(text)
}

/// The script that a quick run's words stand for; none where they are no quick run. The error is that of the command.
pub fn quick_script(command: &str, words: &[String]) -> Result<Option<String>, String> {
    let words = words.iter().map(String::as_str).chain(["--show-script"]);
    let arguments = ["onrush", command].into_iter().chain(words).map(OsString::from).collect();
    match recognise(arguments) {
        Ok(Recognised::Show(script)) => Ok(Some(script)),
        Ok(_) => Ok(None),
        Err(failure) => Err(failure.message),
    }
}

/// Unpacks an archive and throws it away; gives the folder in which all of it was.
pub fn unpack(archive: &Path) -> Result<std::path::PathBuf, String> {
    let is_archive = archive::is_archive(archive);
    match archive::unpack(archive) {
        Ok(unpacked) if unpacked.entry().is_empty() => Err(String::from("an archive without a script")),
        Ok(unpacked) => Ok(unpacked.root()),
        Err(failure) if is_archive && failure.message.is_empty() => Err(String::from("an error without a text")),
        Err(failure) => Err(failure.message),
    }
}

/// Requests as a recorded program sends them: in whatever pieces they come, they are the same.
pub fn recorded_requests(input: &[u8]) -> Result<(), String> {
    let read = |size: usize| {
        let mut from = std::io::BufReader::with_capacity(size, input);
        let mut seen = Vec::new();
        while let Ok(Some(message)) = Message::read(&mut from, &mut || Ok(())) {
            seen.push((message.method, message.target, message.headers, message.body));
        }
        seen
    };
    if read(8192) == read(1) { Ok(()) } else { Err(String::from("byte by byte the requests are others")) }
}

/// Messages of an editor: in whatever pieces they come, they are the same, and so is what is wrong.
pub fn editor_messages(input: &[u8]) -> Result<(), String> {
    let read = |size: usize| {
        let mut from = std::io::BufReader::with_capacity(size, input);
        let mut seen = Vec::new();
        loop {
            match messages::read(&mut from) {
                Ok(Some(message)) => seen.push(message),
                Ok(None) => return (seen, None),
                Err(why) => return (seen, Some(why)),
            }
        }
    };
    if read(8192) == read(1) { Ok(()) } else { Err(String::from("byte by byte the messages are others")) }
}

/// The limits of `--fail-on`.
pub fn limits(text: &str) -> Result<(), String> {
    match FailOn::parse(text).err().filter(String::is_empty) {
        Some(_) => Err(String::from("an error without a text")),
        None => Ok(()),
    }
}
