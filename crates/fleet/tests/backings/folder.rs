//! Objects in a folder.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use onrush_fleet::objects::{ObjectsHub, ObjectsLine, StorePlace};
use onrush_fleet::{Credentials, Token};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::fixture::{Backing, Opening};

pub struct Folder(PathBuf);

impl Folder {
    fn place(&self) -> StorePlace {
        StorePlace::open(&format!("file://{}", self.0.display())).expect("a folder")
    }
}

impl Backing for Folder {
    type Hub = ObjectsHub;
    type Line = ObjectsLine;
    const RETRIES: bool = true;

    fn make() -> Result<Folder, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("onrush-backings-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        Ok(Folder(folder))
    }

    fn hub(&self, credentials: &Credentials, archive: &[u8]) -> Opening<ObjectsHub> {
        let (place, token, archive) = (self.place(), credentials.token(), archive.to_vec());
        Box::pin(async move { ObjectsHub::open(place, &token, archive).await })
    }

    fn line(&self, token: &Token) -> ObjectsLine {
        ObjectsLine::new(self.place(), token)
    }

    fn cut(&self) {
        self.cut_for(Duration::from_millis(400));
    }

    /// A file stands in the folder's place for a while. They change places at once: a write between would make the
    /// folder anew.
    fn cut_for(&self, time: Duration) {
        let away = self.0.with_extension("away");
        let exchange = || renameat_with(CWD, &away, CWD, &self.0, RenameFlags::EXCHANGE).expect("both are there");
        std::fs::write(&away, b"").expect("a file");
        exchange();
        std::thread::sleep(time);
        exchange();
        std::fs::remove_file(&away).expect("a file");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
