//! What messages need of a broker.

use std::collections::HashMap;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::backing::ConnectError;

/// What comes some time.
pub(super) type Coming<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Hears whenever the broker is there, or is not any more.
pub(super) type Tell = Box<dyn Fn(bool) + Send + Sync>;

/// Servers that can be dialled.
pub(super) trait Servers: Debug + Send + Sync {
    /// As they may be printed.
    fn shown(&self) -> &str;

    /// Makes a connection, which the client makes anew when it breaks, by any server of the cluster.
    fn dial<'a>(
        &'a self,
        variables: &'a HashMap<String, String>,
        tell: Tell,
    ) -> Coming<'a, Result<Arc<dyn Client>, ConnectError>>;
}

/// A connection to a broker.
pub(super) trait Client: Send + Sync {
    /// Everything that is published under this subject from now on.
    fn subscribe(&self, subject: String) -> Coming<'_, Result<Box<dyn Subscription>, ConnectError>>;

    /// Sends a message; false when it cannot.
    fn publish(&self, subject: String, content: Vec<u8>) -> Coming<'_, bool>;

    /// Asks whoever answers there; none: nobody does.
    fn ask(&self, subject: String) -> Coming<'_, Result<Option<Vec<u8>>, ConnectError>>;

    /// Until everything is with the broker; false when it cannot be.
    fn flush(&self) -> Coming<'_, bool>;
}

/// Messages of a subject, as they come.
pub(super) trait Subscription: Send {
    /// The next; none when there will be no more. One that is given up loses nothing.
    fn next(&mut self) -> Coming<'_, Option<Message>>;
}

/// A message that has come.
pub(super) struct Message {
    pub(super) subject: String,
    /// Where an answer goes.
    pub(super) reply: Option<String>,
    pub(super) content: Vec<u8>,
}
