//! What the process's environment says about folders and proxies, for tests and apps alike.

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
