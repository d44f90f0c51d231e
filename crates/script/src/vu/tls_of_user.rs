//! What scripts say of a user's TLS, and of one of its requests.

use std::rc::Rc;
use std::sync::Arc;

use wire::settings::{ClientIdentity, OwnTls};

use super::Vu;

impl Vu {
    /// What the script wants of TLS for all requests of this user from now on: a certificate, and whether sessions are
    /// resumed. None of both: what the options say.
    pub fn say_tls(&self, identity: Option<Arc<ClientIdentity>>, resumes: Option<bool>) {
        self.network.say_tls(identity, resumes);
    }

    /// What a request wants of TLS that says something of it.
    pub fn tls_of_request(&self, identity: Option<Arc<ClientIdentity>>, resumes: Option<bool>) -> Rc<OwnTls> {
        self.network.tls_of_request(identity, resumes)
    }
}
