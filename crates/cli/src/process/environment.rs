//! What the process's environment says about folders, proxies and HTTP/2, for tests and apps alike.

use std::collections::BTreeMap;
use std::path::PathBuf;

use wire::settings::Proxies;

/// Environment variables by name.
pub type Variables = BTreeMap<String, String>;

/// `onrush` in the user's cache folder.
pub fn cache_folder(env: &Variables) -> Option<PathBuf> {
    let folder = match env.get("XDG_CACHE_HOME").filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(env.get("HOME")?).join(".cache"),
    };
    Some(folder.join("onrush"))
}

/// Lower case beats upper case, as in curl and Go.
pub fn proxies(env: &Variables) -> Proxies {
    let find = |name: &str| {
        let found = env.get(&name.to_lowercase()).or_else(|| env.get(name));
        found.filter(|text| !text.is_empty()).cloned()
    };
    Proxies { http: find("HTTP_PROXY"), https: find("HTTPS_PROXY"), no_proxy: find("NO_PROXY"), even_local: false }
}

/// `GODEBUG=http2client=0`, which users of k6 know: requests go by HTTP/1.1 alone. Of several settings the last counts.
pub fn forbids_http2(env: &Variables) -> bool {
    let settings = env.get("GODEBUG").map_or("", String::as_str).split(',');
    settings.filter_map(|setting| setting.trim().strip_prefix("http2client=")).next_back() == Some("0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http2_is_forbidden_as_go_does_it() {
        for (text, forbids) in [
            ("", false),
            ("http2client=0", true),
            ("gctrace=1,http2client=0", true),
            ("http2client=0,http2client=1", false),
            ("http2client=1", false),
            ("http2server=0", false),
        ] {
            let env = Variables::from([(String::from("GODEBUG"), String::from(text))]);
            assert_eq!(forbids_http2(&env), forbids, "{text:?}");
        }
    }
}
