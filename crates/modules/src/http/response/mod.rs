//! From what the server answered to what a script sees.

pub(crate) mod failure_text;
pub(crate) mod finish;
pub(crate) mod object;
pub(crate) mod page;
pub(crate) mod parts;
pub(crate) mod plain_response;
