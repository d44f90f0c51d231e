//! Whether a word of a command line is a URL, a script or neither, known from its text and the files that are there.

/// `http://…`, or what curl would take for a host and no file is called.
pub fn is_url(word: &str) -> bool {
    if let Some((scheme, _)) = word.split_once("://") {
        return scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+') && scheme != "file";
    }
    let authority = word.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let has_port = port.is_some_and(|port| port.parse::<u16>().is_ok());
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]%".contains(&b);
    let is_host = !host.is_empty() && !host.starts_with(['.', '-']) && host.bytes().all(fine) || !host.is_ascii();
    let is_known = host == "localhost" || host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    let is_domain = host.contains('.')
        && !has_script_ending(word)
        && !["json", "tar", "txt", "lua"].iter().any(|end| word.ends_with(end));
    is_host && (has_port || is_known || is_domain) && !std::path::Path::new(word).exists()
}

/// Whether a name ends as a script's does.
pub fn has_script_ending(path: &str) -> bool {
    [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"].iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_files() {
        for url in [
            "http://h",
            "HTTPS://h/x.js",
            "localhost",
            "localhost:8080/x",
            "127.0.0.1",
            "[::1]:80/x",
            "test.example/a?b",
            "host:8080",
            "ftp://h",
        ] {
            assert!(is_url(url), "{url}");
        }
        for other in
            ["script.js", "a/b.ts", "-", "./x.y", "../a.b", "nope", "data.json", "a:b", "Cargo.toml", "file:///x"]
        {
            assert!(!is_url(other), "{other}");
        }
    }
}
