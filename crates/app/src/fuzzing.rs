//! Readers of requests that apps get, for `cargo xtask fuzz`.

use crate::form;

/// A content type on the first line, then a body. Besides, the input as a form that is written here, as browsers write
/// one, must come back.
pub fn form(input: &[u8]) -> Result<(), String> {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (first, content) = (String::from_utf8_lossy(&input[..at]), input.get(at + 1..).unwrap_or_default());
    if form::parse(content, &first).is_err_and(|why| why.is_empty()) {
        return Err(String::from("an error without a text"));
    }
    if content.starts_with(b"--b") || content.windows(5).any(|part| part == b"\r\n--b") {
        return Ok(());
    }
    // As the URL Standard's neighbour says: quotes and line ends are escaped, and nothing else is.
    let name: String = first.chars().filter(|c| *c != '\u{fffd}' && *c != '%').collect();
    let written_name = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let head = format!("--b\r\nContent-Disposition: form-data; name=\"{written_name}\"; filename=\"{written_name}\"");
    let written = [head.as_bytes(), b"\r\nContent-Type: text/plain\r\n\r\n", content, b"\r\n--b--\r\n"].concat();
    match form::parse(&written, "multipart/form-data; boundary=b")?.as_slice() {
        [part] if part.name == name && part.file.as_ref() == Some(&name) && part.content == content => Ok(()),
        other => Err(format!("{} reads as {other:?}", written.escape_ascii())),
    }
}
