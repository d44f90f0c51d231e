//! Content codings: gzip, deflate, br and zstd, both ways.
//!
//! This file has the names and the way out (`params.compression`); responses are decoded in `decoder`.

mod decoder;
mod output;

use std::io::Write;

pub use decoder::{ContentDecoder, DecodeLimits, Undecoded};

use crate::failure::{Failure, Step};
use crate::failure_map;
use crate::payload::Payload;

/// A content coding of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950; raw RFC 1951 streams, which old servers send under this name, are accepted too.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// The coding of that name, compared without case; `x-gzip` is gzip.
    pub fn parse(name: &str) -> Option<Coding> {
        const NAMES: [(&str, Coding); 5] = [
            ("gzip", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("deflate", Coding::Deflate),
            ("br", Coding::Brotli),
            ("zstd", Coding::Zstd),
        ];
        NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, coding)| *coding)
    }

    /// The name in Content-Encoding.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }
}

/// Encodes a body for `params.compression`, at each coding's default level. The result is in memory; fails when the
/// body is a file that cannot be read.
pub fn encode(coding: Coding, body: &Payload) -> Result<Payload, Failure> {
    const IN_MEMORY: &str = "writing to a Vec cannot fail";
    let level = flate2::Compression::default();
    let out = match coding {
        Coding::Gzip => {
            let mut to = flate2::write::GzEncoder::new(Vec::new(), level);
            feed(body, &mut to)?;
            to.finish().expect(IN_MEMORY)
        }
        Coding::Deflate => {
            let mut to = flate2::write::ZlibEncoder::new(Vec::new(), level);
            feed(body, &mut to)?;
            to.finish().expect(IN_MEMORY)
        }
        Coding::Brotli => {
            let mut to = brotli::CompressorWriter::new(Vec::new(), 4096, 6, 22);
            feed(body, &mut to)?;
            to.into_inner()
        }
        Coding::Zstd => {
            let mut to = zstd::stream::write::Encoder::new(Vec::new(), 0).expect("zstd's default level is valid");
            feed(body, &mut to)?;
            to.finish().expect(IN_MEMORY)
        }
    };
    Ok(Payload::from_bytes(out))
}

fn feed(body: &Payload, to: &mut impl Write) -> Result<(), Failure> {
    let fed = body.read(|piece| to.write_all(piece).expect("an encoder over a Vec takes all bytes"));
    fed.map_err(|error| failure_map::payload(error, Step::Prepare))
}
