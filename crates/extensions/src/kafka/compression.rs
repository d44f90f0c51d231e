//! Compression of record batches: what the protocol's crate leaves to its user.
//!
//! Snappy is written as one block, as librdkafka writes it; Java's framing of several is read too.

use std::io::{self, Read, Write};

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::records::Compression;

/// Decompressed bytes of a batch at most.
const MOST: u64 = 1 << 30;
/// How Java's snappy streams begin: these, and two versions of four bytes each.
const JAVA_MAGIC: &[u8] = b"\x82SNAPPY\0";
const JAVA_HEADER: usize = 16;

/// What the name of an option means.
pub fn named(name: &str) -> Option<Compression> {
    match name {
        "" | "none" => Some(Compression::None),
        "gzip" => Some(Compression::Gzip),
        "snappy" => Some(Compression::Snappy),
        "lz4" => Some(Compression::Lz4),
        "zstd" => Some(Compression::Zstd),
        _ => None,
    }
}

/// Packs the records of a batch.
pub fn pack(plain: &[u8], out: &mut BytesMut, how: Compression) -> io::Result<()> {
    match how {
        Compression::None => out.put_slice(plain),
        Compression::Gzip => {
            let mut packer = flate2::write::GzEncoder::new(out.writer(), flate2::Compression::default());
            packer.write_all(plain)?;
            packer.finish()?;
        }
        Compression::Snappy => {
            out.put_slice(&snap::raw::Encoder::new().compress_vec(plain).map_err(io::Error::other)?);
        }
        Compression::Lz4 => {
            let mut packer = lz4_flex::frame::FrameEncoder::new(out.writer());
            packer.write_all(plain)?;
            packer.finish().map_err(io::Error::other)?;
        }
        Compression::Zstd => out.put_slice(&zstd::bulk::compress(plain, 0)?),
    }
    Ok(())
}

/// Unpacks them.
pub fn unpack(packed: &[u8], how: Compression) -> io::Result<Bytes> {
    let mut plain = Vec::new();
    let read = match how {
        Compression::None => return Ok(Bytes::copy_from_slice(packed)),
        Compression::Snappy => return unpack_snappy(packed).map(Bytes::from),
        Compression::Gzip => flate2::read::MultiGzDecoder::new(packed).take(MOST + 1).read_to_end(&mut plain)?,
        Compression::Lz4 => lz4_flex::frame::FrameDecoder::new(packed).take(MOST + 1).read_to_end(&mut plain)?,
        Compression::Zstd => zstd::stream::read::Decoder::new(packed)?.take(MOST + 1).read_to_end(&mut plain)?,
    };
    if read as u64 > MOST {
        return Err(too_large());
    }
    Ok(plain.into())
}

fn unpack_snappy(packed: &[u8]) -> io::Result<Vec<u8>> {
    let Some(mut rest) = packed.starts_with(JAVA_MAGIC).then(|| packed.get(JAVA_HEADER..)).flatten() else {
        return unpack_block(packed);
    };
    let mut plain = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        let block = after.get(..length).ok_or(io::ErrorKind::UnexpectedEof)?;
        plain.extend_from_slice(&unpack_block(block)?);
        if plain.len() as u64 > MOST {
            return Err(too_large());
        }
        rest = &after[length..];
    }
    Ok(plain)
}

fn unpack_block(block: &[u8]) -> io::Result<Vec<u8>> {
    if snap::raw::decompress_len(block).map_err(io::Error::other)? as u64 > MOST {
        return Err(too_large());
    }
    snap::raw::Decoder::new().decompress_vec(block).map_err(io::Error::other)
}

fn too_large() -> io::Error {
    io::Error::other("a batch of more than a gibibyte")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let plain = b"some words, some words, some words".repeat(100);
        for name in ["none", "gzip", "snappy", "lz4", "zstd"] {
            let (how, mut packed) = (named(name).unwrap(), BytesMut::new());
            pack(&plain, &mut packed, how).unwrap();
            assert_eq!(unpack(&packed, how).unwrap(), plain, "{name}");
            assert!(name == "none" || packed.len() < plain.len() / 2, "{name} packs");
        }
        assert!(named("brotli").is_none());
    }

    #[test]
    fn snappy_of_java_is_read() {
        let block = snap::raw::Encoder::new().compress_vec(b"abc").unwrap();
        let mut stream = [JAVA_MAGIC, &[0, 0, 0, 1, 0, 0, 0, 1]].concat();
        for _ in 0..2 {
            stream.extend_from_slice(&(block.len() as u32).to_be_bytes());
            stream.extend_from_slice(&block);
        }
        assert_eq!(unpack(&stream, Compression::Snappy).unwrap(), b"abcabc"[..]);
        stream.pop();
        assert!(unpack(&stream, Compression::Snappy).is_err(), "a block that is cut off");
    }
}
