//! From the arguments of a call to what is sent.

pub(crate) mod body;
pub(crate) mod call;
pub(crate) mod cookies;
pub(crate) mod encode;
pub(crate) mod events;
pub(crate) mod fixed;
pub(crate) mod hint;
pub(crate) mod intake;
pub(crate) mod own_tls;
pub(crate) mod params;
pub(crate) mod prepare;
pub(crate) mod state;
