//! The handlers of `route.rs`, by topic; each is a function from a request to a reply that neither waits nor writes.

pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod cache;
pub(crate) mod chat;
pub(crate) mod coding;
pub(crate) mod cookies;
pub(crate) mod data;
pub(crate) mod delay;
pub(crate) mod documents;
pub(crate) mod echo;
pub(crate) mod faults;
pub(crate) mod form;
pub(crate) mod image;
pub(crate) mod redirect;
pub(crate) mod simple;
pub(crate) mod stream;
pub(crate) mod websocket;
