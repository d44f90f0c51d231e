//! Values in a file, by redb: each change is on the disk when its call returns.
//!
//! Every call may block. A file belongs to one process at a time.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition};

use super::store::{Change, Entry, KvError, KvOutcome, start};

const TABLE: TableDefinition<'static, &str, &str> = TableDefinition::new("kv");

/// A file of values.
pub struct Disk(Database);

fn reading(error: impl Into<redb::Error>) -> KvError {
    KvError::new("DiskStoreReadError", format!("cannot read the file of the store: {}", error.into()))
}

fn writing(error: impl Into<redb::Error>) -> KvError {
    KvError::new("DiskStoreWriteError", format!("cannot write the file of the store: {}", error.into()))
}

impl Disk {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> KvOutcome<Disk> {
        let refused = |error: DatabaseError| {
            let why = match &error {
                DatabaseError::DatabaseAlreadyOpen => String::from("another process has it open"),
                other => format!("{other}; files of xk6-kv are of another format: delete it, or give another path"),
            };
            KvError::new("DiskStoreOpenError", format!("cannot open the store {}: {why}", path.display()))
        };
        let database = Database::create(path).map_err(refused)?;
        // So that readers find it.
        let change = database.begin_write().map_err(writing)?;
        change.open_table(TABLE).map_err(writing)?;
        change.commit().map_err(writing)?;
        Ok(Disk(database))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> KvOutcome<Option<Arc<str>>> {
        let table = self.0.begin_read().map_err(reading)?.open_table(TABLE).map_err(reading)?;
        Ok(table.get(key).map_err(reading)?.map(|value| Arc::from(value.value())))
    }

    /// See `Store::update`.
    pub fn update<R>(
        &self,
        key: &str,
        decide: impl FnOnce(Option<&Arc<str>>) -> KvOutcome<(Change, R)>,
    ) -> KvOutcome<R> {
        let transaction = self.0.begin_write().map_err(writing)?;
        let mut table = transaction.open_table(TABLE).map_err(writing)?;
        let found: Option<Arc<str>> = table.get(key).map_err(reading)?.map(|value| Arc::from(value.value()));
        let (change, result) = decide(found.as_ref())?;
        match change {
            // The transaction is dropped, which takes it back: there is nothing to wait for.
            Change::Keep => return Ok(result),
            Change::Set(value) => drop(table.insert(key, &*value).map_err(writing)?),
            Change::Remove => drop(table.remove(key).map_err(writing)?),
        }
        drop(table);
        transaction.commit().map_err(writing)?;
        Ok(result)
    }

    /// See `Store::entries`.
    pub fn entries(&self, prefix: &str, after: Option<&str>, limit: usize) -> KvOutcome<Vec<Entry>> {
        let table = self.0.begin_read().map_err(reading)?.open_table(TABLE).map_err(reading)?;
        entries(&table, (start(prefix, after), Bound::Unbounded), prefix, limit)
    }

    /// How many keys begin so.
    pub fn count(&self, prefix: &str) -> KvOutcome<usize> {
        let table = self.0.begin_read().map_err(reading)?.open_table(TABLE).map_err(reading)?;
        count(&table, prefix)
    }

    /// See `Store::random`.
    pub fn random(&self, prefix: &str, removes: bool) -> KvOutcome<Option<Entry>> {
        if !removes {
            return pick(&self.0.begin_read().map_err(reading)?.open_table(TABLE).map_err(reading)?, prefix);
        }
        let transaction = self.0.begin_write().map_err(writing)?;
        let mut table = transaction.open_table(TABLE).map_err(writing)?;
        let Some(found) = pick(&table, prefix)? else { return Ok(None) };
        drop(table.remove(found.0.as_str()).map_err(writing)?);
        drop(table);
        transaction.commit().map_err(writing)?;
        Ok(Some(found))
    }

    /// Removes all.
    pub fn clear(&self) -> KvOutcome<()> {
        let transaction = self.0.begin_write().map_err(writing)?;
        transaction.delete_table(TABLE).map_err(writing)?;
        transaction.open_table(TABLE).map_err(writing)?;
        transaction.commit().map_err(writing)
    }
}

fn entries(
    table: &impl ReadableTable<&'static str, &'static str>,
    range: (Bound<&str>, Bound<&str>),
    prefix: &str,
    limit: usize,
) -> KvOutcome<Vec<Entry>> {
    let mut found = Vec::new();
    for entry in table.range::<&str>(range).map_err(reading)?.take(limit) {
        let (key, value) = entry.map_err(reading)?;
        if !key.value().starts_with(prefix) {
            break;
        }
        found.push((key.value().to_owned(), Arc::from(value.value())));
    }
    Ok(found)
}

fn count(table: &impl ReadableTable<&'static str, &'static str>, prefix: &str) -> KvOutcome<usize> {
    if prefix.is_empty() {
        return Ok(table.len().map_err(reading)? as usize);
    }
    let mut count = 0;
    for entry in table.range::<&str>((start(prefix, None), Bound::Unbounded)).map_err(reading)? {
        if !entry.map_err(reading)?.0.value().starts_with(prefix) {
            break;
        }
        count += 1;
    }
    Ok(count)
}

/// One of those whose keys begin so.
fn pick(table: &impl ReadableTable<&'static str, &'static str>, prefix: &str) -> KvOutcome<Option<Entry>> {
    let count = count(table, prefix)?;
    if count == 0 {
        return Ok(None);
    }
    let mut range = table.range::<&str>((start(prefix, None), Bound::Unbounded)).map_err(reading)?;
    let Some(entry) = range.nth(fastrand::usize(..count)) else { return Ok(None) };
    let (key, value) = entry.map_err(reading)?;
    Ok(Some((key.value().to_owned(), Arc::from(value.value()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_process_and_keeps_its_values() {
        let path = std::env::temp_dir().join(format!("onrush-kv-{}.redb", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let disk = Disk::open(&path).unwrap();
        disk.update("a", |_| Ok((Change::Set("1".into()), ()))).unwrap();
        let second = Disk::open(&path).err().unwrap();
        assert_eq!(second.name, "DiskStoreOpenError");
        assert_eq!(second.text, format!("cannot open the store {}: another process has it open", path.display()));
        drop(disk);
        assert_eq!(Disk::open(&path).unwrap().get("a").unwrap().as_deref(), Some("1"));
        std::fs::write(&path, "no database").unwrap();
        let other = Disk::open(&path).err().unwrap().text;
        assert!(other.contains("files of xk6-kv are of another format"), "{other}");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_change_that_is_refused_changes_nothing() {
        let path = std::env::temp_dir().join(format!("onrush-kv-refused-{}.redb", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let disk = Disk::open(&path).unwrap();
        let refused = KvError::new("ValueParseError", "no");
        assert_eq!(disk.update("a", |_| Err::<(Change, ()), _>(refused.clone())), Err(refused));
        assert_eq!(disk.count(""), Ok(0));
        std::fs::remove_file(&path).unwrap();
    }
}
