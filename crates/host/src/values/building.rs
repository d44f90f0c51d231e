//! Texts that native code builds for a script, counted on the user's account while they grow.

use rquickjs::Ctx;

use crate::memory::Reservation;
use crate::user::User;

/// The account of a text that native code builds piece by piece. Short ones are not counted.
#[derive(Debug, Default)]
pub struct Building(Option<Reservation>);

impl Building {
    /// Texts up to this length are free.
    const FREE: usize = 64 << 10;

    /// Asked between two pieces, with the capacity of the text: counts it and what its next growth takes, old and new
    /// together.
    pub fn grew_to(&mut self, ctx: &Ctx<'_>, capacity: usize) -> rquickjs::Result<()> {
        let counted = self.0.as_ref().map_or(Self::FREE, |held| held.bytes() / 3);
        if capacity <= counted {
            return Ok(());
        }
        let wanted = capacity.saturating_mul(3);
        let grown = match &mut self.0 {
            Some(held) => held.resize(wanted),
            None => User::of(ctx).memory().reserve(wanted).map(|held| self.0 = Some(held)),
        };
        grown.map_err(|over| over.throw(ctx))
    }
}
