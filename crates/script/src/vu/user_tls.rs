//! What the requests of one user want of TLS where it is not what the run's options say: a certificate of the user's
//! own, sessions that are resumed, or both, for all requests or for those that say so.
//!
//! Equal wishes are one value, so that their requests share connections and sessions. Few values are remembered: a user
//! that makes a certificate for each request has new connections anyway.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use wire::settings::{ClientIdentity, OwnTls};

/// Values that are remembered.
const REMEMBERED: usize = 64;

/// The certificate and the sessions of one user.
#[derive(Default)]
pub(super) struct UserTls {
    /// By the option, or the field of the scenario.
    resumes: Cell<bool>,
    /// What the script said for all requests.
    identity: RefCell<Option<Arc<ClientIdentity>>>,
    said_resumption: Cell<Option<bool>>,
    /// The newest last.
    made: RefCell<Vec<Rc<OwnTls>>>,
}

impl UserTls {
    /// What the option or the scenario says; whether it is another word than before.
    pub fn set_resumption(&self, resumes: bool) -> bool {
        self.resumes.replace(resumes) != resumes
    }

    /// What the script says for all requests from now on.
    pub fn say(&self, identity: Option<Arc<ClientIdentity>>, resumes: Option<bool>) {
        *self.identity.borrow_mut() = identity;
        self.said_resumption.set(resumes);
    }

    /// For requests that say nothing of it; none: the run's settings hold.
    pub fn of_client(&self) -> Option<Rc<OwnTls>> {
        let resumes = self.said_resumption.get().unwrap_or(self.resumes.get());
        (resumes || self.identity.borrow().is_some()).then(|| self.of_request(None, None))
    }

    /// For a request that shows this certificate, or wants sessions resumed or not.
    pub fn of_request(&self, identity: Option<Arc<ClientIdentity>>, resumes: Option<bool>) -> Rc<OwnTls> {
        let identity = identity.or_else(|| self.identity.borrow().clone());
        let resumes = resumes.or(self.said_resumption.get()).unwrap_or(self.resumes.get());
        let is_it = |own: &&Rc<OwnTls>| {
            own.resumes == resumes && own.identity.as_ref().map(Arc::as_ptr) == identity.as_ref().map(Arc::as_ptr)
        };
        let mut made = self.made.borrow_mut();
        if let Some(own) = made.iter().find(is_it) {
            return Rc::clone(own);
        }
        let own = Rc::new(OwnTls { identity, resumes });
        if made.len() == REMEMBERED {
            made.remove(0);
        }
        made.push(Rc::clone(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_wishes_are_one_value() {
        let tls = UserTls::default();
        assert!(tls.of_client().is_none());
        let [on, off] = [Some(true), Some(false)].map(|resumes| tls.of_request(None, resumes));
        assert!(Rc::ptr_eq(&on, &tls.of_request(None, Some(true))) && !Rc::ptr_eq(&on, &off));
        assert!(tls.set_resumption(true) && !tls.set_resumption(true));
        assert!(tls.of_client().is_some_and(|own| Rc::ptr_eq(&own, &on)));
        assert!(Rc::ptr_eq(&tls.of_request(None, None), &on));
        tls.say(None, Some(false));
        assert!(tls.of_client().is_none(), "the script has the last word");
        assert!(Rc::ptr_eq(&tls.of_request(None, None), &off));
        (0..2 * REMEMBERED).for_each(|_| drop(tls.of_request(None, Some(true))));
        assert_eq!(tls.made.borrow().len(), 2);
    }
}
