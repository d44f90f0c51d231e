//! Whose requests and frames are on the log.

use super::Vu;

impl Vu {
    /// Whether `httpDebug` and `wsDebug` are of this user: of all, unless `debugVU` names another one.
    pub fn is_debugged(&self) -> bool {
        let own = self.context.as_ref().map_or(0, |context| context.id_in_test);
        self.options().debug_vu.is_none_or(|number| u64::from(number) == own)
    }
}
