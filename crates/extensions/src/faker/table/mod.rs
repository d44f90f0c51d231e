//! The functions that are more than a list of our own. One line a function, as far as it fits: its name, what it gives,
//! what it is, how it is made. The others stand before their lists in `make/words.txt`.

pub mod brazil;
pub mod internet;
pub mod numbers;
pub mod payment;
pub mod people;
pub mod places;
pub mod things;
pub mod time;
pub mod words;

/// Types of TypeScript.
const STRING: &str = "string";
const NUMBER: &str = "number";
const BOOLEAN: &str = "boolean";
const STRINGS: &str = "string[]";
const NUMBERS: &str = "number[]";
