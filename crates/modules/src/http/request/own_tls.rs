//! TLS that a script wants for a request or for a user: the params `tlsAuth` and `tlsResumption`, which k6 does not
//! know and leaves alone, and `useTLS` of `onrush/http`.
//!
//! Certificates and keys are read once a worker, since scripts give the same texts again and again. Refuses what is no
//! pair of certificate and key, by the param's name.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use host::bytes;
use host::js::{Ctx, Object, Value};
use wire::settings::{ClientIdentity, OwnTls};

use crate::http::common::refusal::{Checked, Refusal};
use script::Vu;

/// Pairs that a worker remembers; past this it begins again.
const REMEMBERED: usize = 4096;

/// What `tlsAuth` has to be.
const PAIR: &str = "an object with cert and key as PEM";

/// Certificate, key and password as a script gave them.
type GivenPair = [Box<str>; 3];

/// Pairs of this worker.
#[derive(Default)]
struct Identities(RefCell<HashMap<GivenPair, Arc<ClientIdentity>>>);

/// What was said of TLS. Nothing: the user's ways hold.
#[derive(Clone, Default)]
pub struct WantedTls {
    /// The param `tlsAuth`.
    pub identity: Option<Arc<ClientIdentity>>,
    /// The param `tlsResumption`.
    pub resumes: Option<bool>,
}

impl WantedTls {
    /// Reads one of the two.
    pub fn field<'js>(&mut self, ctx: &Ctx<'js>, key: &str, value: &Value<'js>) -> Checked<()> {
        match (key, value.is_null() || value.is_undefined()) {
            (_, true) => {}
            ("tlsAuth", _) => self.identity = Some(identity(ctx, value)?),
            _ => self.resumes = Some(value.as_bool().ok_or_else(|| wrong(key, value, "true or false"))?),
        }
        Ok(())
    }

    /// Of an object that has nothing else.
    pub fn of<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Checked<WantedTls> {
        let mut wanted = WantedTls::default();
        for key in ["tlsAuth", "tlsResumption"] {
            wanted.field(ctx, key, &object.get(key)?)?;
        }
        Ok(wanted)
    }

    /// Whether nothing was said.
    pub fn is_nothing(&self) -> bool {
        self.identity.is_none() && self.resumes.is_none()
    }

    /// For a request of this user.
    pub fn of_request(self, vu: &Vu) -> Option<Rc<OwnTls>> {
        (!self.is_nothing()).then(|| vu.tls_of_request(self.identity, self.resumes))
    }
}

fn identity<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Checked<Arc<ClientIdentity>> {
    let Some(object) = value.as_object() else { return Err(wrong("tlsAuth", value, PAIR).into()) };
    let text = |name: &'static str| -> Checked<Option<Box<str>>> {
        let value: Value<'js> = object.get(name)?;
        if value.is_undefined() || value.is_null() {
            return Ok(None);
        }
        let text = bytes::text(&value)?.ok_or_else(|| wrong(&format!("tlsAuth.{name}"), &value, "a string"))?;
        Ok(Some(text.into()))
    };
    let needed = |name: &'static str| -> Checked<Box<str>> {
        Ok(text(name)?.ok_or_else(|| Refusal::new(format!("tlsAuth: {name} is missing, expected {PAIR}")))?)
    };
    let given = [needed("cert")?, needed("key")?, text("password")?.unwrap_or_default()];
    let identities = Vu::of(ctx).worker_local::<Identities>();
    let mut known = identities.0.borrow_mut();
    if let Some(identity) = known.get(&given) {
        return Ok(Arc::clone(identity));
    }
    let [cert, key, password] = &given;
    let password = Some(&**password).filter(|password| !password.is_empty());
    let read = ClientIdentity::read(Vec::new(), cert, key, password);
    let identity = Arc::new(read.map_err(|why| Refusal::new(format!("tlsAuth: {why}")))?);
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(given, Arc::clone(&identity));
    Ok(identity)
}

fn wrong(key: &str, value: &Value<'_>, expected: &str) -> Refusal {
    Refusal::new(format!("{key} is {}, expected {expected}", value.type_name()))
}
