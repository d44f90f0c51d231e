//! A zip archive, as wheels are: deflated files without dates of this machine.
//!
//! Only what a wheel needs: no archives above 4 GiB, no names outside of UTF-8.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// The first day that zip knows: 1 January 1980.
const DATE: u16 = 0x21;
/// Names are UTF-8.
const FLAGS: u16 = 0x800;
const DEFLATED: u16 = 8;

/// An archive in the making.
#[derive(Default)]
pub(super) struct Zip {
    files: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Zip {
    /// Adds a file with the rights of Unix.
    pub(super) fn file(&mut self, name: &str, mode: u16, content: &[u8]) -> Result<(), String> {
        let failed = |what: &str| format!("{name}: {what}");
        let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
        let packed = deflated.write_all(content).and_then(|()| deflated.finish());
        let packed = packed.map_err(|error| failed(&error.to_string()))?;
        let whole = |size: usize| u32::try_from(size).map_err(|_| failed("too large for a zip archive"));
        let mut crc = Crc::new();
        crc.update(content);
        let at = whole(self.files.len())?;
        let mut head = [20u16, FLAGS, DEFLATED, 0, DATE].map(u16::to_le_bytes).concat();
        head.extend([crc.sum(), whole(packed.len())?, whole(content.len())?].map(u32::to_le_bytes).concat());
        head.extend(
            [u16::try_from(name.len()).map_err(|_| failed("too long a name"))?, 0].map(u16::to_le_bytes).concat(),
        );
        self.files.extend([b"PK\x03\x04", head.as_slice(), name.as_bytes(), &packed].concat());
        // Made by version 2.0 on Unix; the rights stand in the upper half.
        self.directory.extend([b"PK\x01\x02".as_slice(), &[20, 3], &head, &[0; 6]].concat());
        self.directory.extend((u32::from(0o100_000 | mode) << 16).to_le_bytes());
        self.directory.extend(at.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.count += 1;
        Ok(())
    }

    /// The whole archive.
    pub(super) fn finish(self) -> Result<Vec<u8>, String> {
        let whole = |size: usize| u32::try_from(size).map_err(|_| String::from("too large for a zip archive"));
        let (at, size) = (whole(self.files.len())?, whole(self.directory.len())?);
        let mut out = [self.files, self.directory, b"PK\x05\x06\0\0\0\0".to_vec()].concat();
        out.extend([self.count, self.count].map(u16::to_le_bytes).concat());
        out.extend([size, at].map(u32::to_le_bytes).concat());
        out.extend([0, 0]);
        Ok(out)
    }
}
