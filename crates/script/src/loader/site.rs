//! SiteTable of sources at which a debugger can stop, and how columns change by what is inserted before them.
//!
//! A place has one number in the whole program, which its call tells. Lines and columns begin with 1, columns are
//! UTF-16 units, as editors count them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where something is in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in UTF-16 units.
    pub column: u32,
}

/// What the names of a scope are to the statement that sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// Of its own function.
    Local,
    /// Of a function around that.
    Closure,
    /// Of the module's top level.
    Module,
}

/// The names of one scope.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Whose names they are.
    pub kind: ScopeKind,
    /// Values alone, no types.
    pub names: Arc<[String]>,
}

/// A statement that can be stopped at.
#[derive(Clone, Debug)]
pub struct Site {
    /// Where it begins.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
    /// What it sees, from the innermost scope outwards.
    pub scopes: Vec<Scope>,
    /// Whether it waits for a promise, so that other functions run in the middle of it.
    pub awaits: bool,
}

impl Site {
    /// The names of one kind, each once: an inner one hides an outer one of the same name.
    pub fn names(&self, kind: ScopeKind) -> Vec<String> {
        let mut seen: Vec<&str> = Vec::new();
        let mut names = Vec::new();
        for scope in &self.scopes {
            for name in scope.names.iter().filter(|name| !name.starts_with("__onrush_")) {
                if !seen.contains(&name.as_str()) {
                    seen.push(name);
                    if scope.kind == kind {
                        names.push(name.clone());
                    }
                }
            }
        }
        names
    }
}

/// A place and its module.
pub type PlacedSite = (Arc<str>, Site);

/// The places of a program, by their numbers; the loader adds to them, a debugger reads them.
#[derive(Debug, Default)]
pub struct SiteTable(Mutex<Vec<PlacedSite>>);

impl SiteTable {
    /// All of them.
    pub fn all(&self) -> MutexGuard<'_, Vec<PlacedSite>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds those of a module; `instrument` gets the number of the first one.
    pub(crate) fn add(
        &self,
        module: &str,
        instrument: impl FnOnce(usize) -> Option<Instrumented>,
    ) -> Option<Instrumented> {
        let mut all = self.all();
        let made = instrument(all.len())?;
        let module: Arc<str> = Arc::from(module);
        all.extend(made.sites.iter().map(|site| (Arc::clone(&module), site.clone())));
        Some(made)
    }
}

/// A source with its calls.
pub(crate) struct Instrumented {
    /// What is compiled.
    pub code: String,
    /// SiteTable that have a call, in the order of their numbers.
    pub sites: Vec<Site>,
    /// The way back to columns of the source.
    pub shifts: Shifts,
}

/// What was inserted into a source, by line: enough to get from a column of the code back to one of the source.
#[derive(Debug, Default)]
pub(crate) struct Shifts(Vec<Shift>);

#[derive(Debug)]
struct Shift {
    line: u32,
    /// Columns of the source, from 0.
    at_bytes: u32,
    at_units: u32,
    length: u32,
}

impl Shifts {
    /// Notes an insertion; in the order of places.
    pub fn add(&mut self, line: u32, at_bytes: u32, at_units: u32, length: u32) {
        self.0.push(Shift { line, at_bytes, at_units, length });
    }

    /// The source's column of a byte of the code, both from 1.
    pub fn of_bytes(&self, line: u32, column: u32) -> u32 {
        self.column(line, column, |shift| shift.at_bytes)
    }

    /// The same in UTF-16 units.
    pub fn of_units(&self, line: u32, column: u32) -> u32 {
        self.column(line, column, |shift| shift.at_units)
    }

    fn column(&self, line: u32, column: u32, at: impl Fn(&Shift) -> u32) -> u32 {
        let first = self.0.partition_point(|shift| shift.line < line);
        let (mut inserted, column) = (0, column.saturating_sub(1));
        for shift in self.0[first..].iter().take_while(|shift| shift.line == line) {
            if column < at(shift) + inserted {
                break;
            }
            if column < at(shift) + inserted + shift.length {
                return at(shift) + 1;
            }
            inserted += shift.length;
        }
        column - inserted + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_lose_what_was_inserted_before_them() {
        // `é; a; b` with 10 bytes before `a` and 5 before `b`, on line 2.
        let mut shifts = Shifts::default();
        shifts.add(1, 0, 0, 7);
        shifts.add(2, 4, 3, 10);
        shifts.add(2, 7, 6, 5);
        let bytes = [1, 4, 5, 14, 15, 17, 18, 22, 23].map(|column| shifts.of_bytes(2, column));
        assert_eq!(bytes, [1, 4, 5, 5, 5, 7, 8, 8, 8]);
        assert_eq!([3, 4, 13, 14, 22].map(|column| shifts.of_units(2, column)), [3, 4, 4, 4, 7]);
        assert_eq!((shifts.of_bytes(1, 8), shifts.of_bytes(3, 9)), (1, 9));
    }
}
