//! Names of tags and attributes, found without html5ever's tables when they were seen a moment ago.

use std::hash::BuildHasher;

use html5ever::LocalName;
use rustc_hash::FxBuildHasher;

/// How many names are remembered; each has one place.
const PLACES: usize = 256;

/// The names that were seen last, as written.
pub struct RecentNames(Vec<Option<(Box<str>, LocalName)>>);

impl Default for RecentNames {
    fn default() -> RecentNames {
        RecentNames(vec![None; PLACES])
    }
}

impl RecentNames {
    /// The name in lower case.
    pub fn get(&mut self, written: &str) -> LocalName {
        let place = &mut self.0[FxBuildHasher.hash_one(written) as usize % PLACES];
        match place {
            Some((known, name)) if **known == *written => name.clone(),
            _ => {
                let name = LocalName::from(written.to_ascii_lowercase());
                *place = Some((written.into(), name.clone()));
                name
            }
        }
    }
}
