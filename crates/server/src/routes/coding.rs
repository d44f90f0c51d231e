//! The echo in every content coding clients decode.

use std::io::Write;

use crate::outgoing::respond::{Body, JSON, Reply, Response, pretty};
use crate::request::Request;

fn coded(request: &Request<'_>, flag: &str, coding: &'static str, encode: fn(&[u8]) -> Vec<u8>) -> Reply {
    let mut echo = request.echo();
    echo.insert(flag.into(), true.into());
    let body = encode(&pretty(&echo.into()));
    Response::new(200, JSON, Body::Bytes(body)).header("Content-Encoding", coding).into()
}

const INTO_VEC: &str = "a Vec takes every write";

fn to_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect(INTO_VEC);
    encoder.finish().expect(INTO_VEC)
}

fn to_zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect(INTO_VEC);
    encoder.finish().expect(INTO_VEC)
}

fn to_brotli(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 5, 20);
    encoder.write_all(bytes).expect(INTO_VEC);
    drop(encoder);
    out
}

fn to_zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 0).expect("memory is read and written without errors")
}

pub(crate) fn gzip(request: &Request<'_>) -> Reply {
    coded(request, "gzipped", "gzip", to_gzip)
}

/// `deflate` is the zlib format (RFC 9110 section 8.4.1.2).
pub(crate) fn deflate(request: &Request<'_>) -> Reply {
    coded(request, "deflated", "deflate", to_zlib)
}

pub(crate) fn brotli(request: &Request<'_>) -> Reply {
    coded(request, "brotli", "br", to_brotli)
}

pub(crate) fn zstd(request: &Request<'_>) -> Reply {
    coded(request, "zstd", "zstd", to_zstd)
}

/// Two codings, applied in the order they are named.
pub(crate) fn zstd_brotli(request: &Request<'_>) -> Reply {
    coded(request, "zstd-br", "zstd, br", |bytes| to_brotli(&to_zstd(bytes)))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn decodes_back() {
        let text = b"{\"a\": 1}".repeat(2000);
        let read = |mut r: Box<dyn Read>| {
            let mut out = Vec::new();
            r.read_to_end(&mut out).unwrap();
            out
        };
        let boxed = |bytes: Vec<u8>| std::io::Cursor::new(bytes);
        assert_eq!(read(Box::new(flate2::read::GzDecoder::new(boxed(to_gzip(&text))))), text);
        assert_eq!(read(Box::new(flate2::read::ZlibDecoder::new(boxed(to_zlib(&text))))), text);
        assert_eq!(read(Box::new(brotli::Decompressor::new(boxed(to_brotli(&text)), 4096))), text);
        assert_eq!(zstd::decode_all(&to_zstd(&text)[..]).unwrap(), text);
    }
}
