//! How values are made: choices, lists, dates, and what a function of the table is.

pub mod date;
pub mod draw;
pub mod function;
pub mod made;
pub mod words;
