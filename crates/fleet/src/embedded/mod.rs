//! Messages over TCP and TLS, without any other program: agents dial the coordinator, or it dials them.
//!
//! A frame is a length of four bytes, little-endian, and a message. The coordinator's certificate is made for the run;
//! agents know it by the fingerprint in their token (`tls`). Who has not said hello may send little and gets little
//! time for it.

mod credentials;
mod hub;
mod line;
mod tls;

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub use credentials::Credentials;
pub use hub::TcpHub;
pub use line::{LISTENING, TcpLine};
pub use tls::Certificate;

/// A message at most.
const LONGEST: usize = 256 << 20;
/// A hello at most.
const LONGEST_HELLO: usize = 4 << 10;

/// Reads a frame; none when the other side has closed in good order.
async fn read_frame(from: &mut (impl AsyncRead + Unpin), longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut head = [0; 4];
    if let Err(error) = from.read_exact(&mut head).await {
        return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
    }
    let length = u32::from_le_bytes(head) as usize;
    if length > longest {
        return Err(io::Error::other(format!("found a message of {length} bytes, expected at most {longest}")));
    }
    let mut content = Vec::new();
    let read = from.take(length as u64).read_to_end(&mut content).await?;
    if read < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(Some(content)) }
}

/// Writes a frame in one piece.
async fn write_frame(to: &mut (impl AsyncWrite + Unpin), content: &[u8]) -> io::Result<()> {
    let mut frame = Vec::with_capacity(4 + content.len());
    frame.extend((content.len() as u32).to_le_bytes());
    frame.extend(content);
    to.write_all(&frame).await?;
    to.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_come_back_and_oversized_or_cut_ones_are_errors() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, b"one").await.unwrap();
        write_frame(&mut bytes, b"").await.unwrap();
        let mut from = &bytes[..];
        assert_eq!(read_frame(&mut from, 3).await.unwrap().unwrap(), b"one");
        assert_eq!(read_frame(&mut from, 3).await.unwrap().unwrap(), b"");
        assert_eq!(read_frame(&mut from, 3).await.unwrap(), None);
        let error = read_frame(&mut &bytes[..], 2).await.unwrap_err().to_string();
        assert_eq!(error, "found a message of 3 bytes, expected at most 2");
        assert!(read_frame(&mut &bytes[..5], 3).await.is_err());
    }
}
