//! Origins of requests with TLS of their own: of one client, because the values that they are for are one user's.
//!
//! Few are remembered. Idle connections to a forgotten one are not found again, and leave the pool as the oldest.

use std::cell::RefCell;
use std::rc::Rc;

use crate::client::route::origins::{Origin, Origins};
use crate::failure::Failure;
use crate::own_tls::OwnTls;
use crate::syntax::url::Url;
use crate::tls::config::Offer;

/// Origins that are remembered.
const REMEMBERED: usize = 64;

/// What a client wants of TLS, and where that has led.
#[derive(Default)]
pub(crate) struct OwnOrigins {
    of_client: RefCell<Option<Rc<OwnTls>>>,
    /// The newest last.
    known: RefCell<Vec<(Rc<OwnTls>, Rc<Origin>)>>,
}

impl OwnOrigins {
    pub(crate) fn set(&self, own: Option<Rc<OwnTls>>) {
        *self.of_client.borrow_mut() = own;
    }

    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.of_client.borrow().is_some()
    }

    pub(crate) fn of_client(&self) -> Option<Rc<OwnTls>> {
        self.of_client.borrow().clone()
    }

    /// The origin of an https URL for this value.
    pub(crate) fn find(
        &self,
        origins: &Origins,
        url: &Url,
        offer: Offer,
        own: &Rc<OwnTls>,
    ) -> Result<Rc<Origin>, Failure> {
        let mut known = self.known.borrow_mut();
        if let Some((_, origin)) = known.iter().find(|(of, origin)| Rc::ptr_eq(of, own) && origin.is_of(url, offer)) {
            return Ok(origin.clone());
        }
        let origin = origins.find_own(url, offer, own)?;
        if known.len() == REMEMBERED {
            known.remove(0);
        }
        known.push((Rc::clone(own), origin.clone()));
        Ok(origin)
    }
}
