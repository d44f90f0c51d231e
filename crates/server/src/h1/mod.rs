//! The server side of HTTP/1.1: request heads, request bodies, response heads.
//!
//! Pure functions over bytes: no socket, no clock but the one of the `Date` line. Refuses what could be read in two ways
//! (RFC 9112 section 6.3: a length beside chunked coding, two lengths, an unknown transfer coding), because a test server that
//! guesses hides bugs of the client.

pub mod body;
pub mod head;
pub mod respond;
