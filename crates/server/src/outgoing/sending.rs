//! The body of a response on its way out: what is ready is gathered and leaves together, what is not is waited for.
//!
//! A ready piece never waits for one that is not: before this is `Pending` for a piece, everything gathered has been
//! handed to the socket. And no piece is asked for while the output is full: a client that does not read stops its
//! stream. It is polled with the stream lent for that moment, so that the rest of a request body can be read in
//! between.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use crate::connection::stream::Stream;
use crate::outgoing::output::{FLUSH_AT, Output};
use crate::outgoing::respond::{Body, Line, PieceStream, lines};
use wire::h1::chunks;
use wire::h1::framing::BodyFraming;

/// Bytes of a file that leave with the head, copied; the kernel sends the rest. Where the kernel keeps the head for the
/// file's first packet, a longer file is not copied at all.
const FILE_HEAD: u64 = 16 * 1024;
/// Bytes of a file asked of the kernel at once.
const FILE_STEP: u64 = 1 << 20;

/// A body whose head is in the output.
pub(crate) struct Sending {
    rest: Rest,
    chunked: bool,
    trailers: Vec<Line>,
}

/// What is still to be gathered.
pub(crate) enum Rest {
    /// Nothing: all of it is in the output.
    Done,
    Whole(Bytes),
    Array(std::vec::IntoIter<Bytes>),
    Stream {
        pieces: Box<dyn PieceStream>,
        left: Option<u64>,
    },
    File {
        file: Arc<File>,
        offset: u64,
        left: u64,
    },
}

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyEnd {
    /// All of it is in the output, most of it on its way.
    Whole,
    /// A stream failed or kept not to its length, or a file was shorter: the client must see the connection end.
    CutShort,
}

/// How the bytes of a file get out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileWay {
    /// Through this process: they are encrypted, or have lines of chunks between them.
    Read,
    /// By the kernel, behind a head that went out with the first of them.
    Behind,
    /// By the kernel, in one packet with the head.
    Joined,
}

impl FileWay {
    fn of(chunked: bool, stream: &Stream) -> FileWay {
        match chunked || stream.is_tls() {
            true => FileWay::Read,
            false if stream.keeps_back() => FileWay::Joined,
            false => FileWay::Behind,
        }
    }

    /// Whether the kernel sends so many bytes now, with so many others before them.
    fn is_kernels(self, left: u64, before: usize) -> bool {
        match self {
            FileWay::Read => false,
            FileWay::Behind => before == 0 && left > 0,
            FileWay::Joined => left > FILE_HEAD || before == 0 && left > 0,
        }
    }
}

/// Why gathering paused.
enum Gathered {
    Full,
    Done,
    /// The kernel is to send what comes next.
    FromFile,
    CutShort,
}

impl Sending {
    /// `framing` is what the head says.
    pub(crate) fn new(body: Body, framing: BodyFraming, trailers: Vec<Line>) -> Self {
        Sending { rest: Rest::new(body), chunked: framing == BodyFraming::Chunked, trailers }
    }

    /// Goes on until the end of the body is in the output, which the caller flushes before it waits for anything.
    pub(crate) fn poll(
        &mut self,
        out: &mut Output,
        stream: &mut Stream,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<BodyEnd>> {
        loop {
            let way = FileWay::of(self.chunked, stream);
            let gathered = self.gather(out, way, cx);
            match gathered {
                Poll::Ready(Gathered::FromFile) => ready!(out.poll_flush_before_file(stream, cx))?,
                Poll::Ready(Gathered::Done) if out.len() < FLUSH_AT => {}
                _ => ready!(out.poll_flush(stream, cx))?,
            }
            match ready!(gathered) {
                Gathered::Full => {}
                Gathered::Done => return Poll::Ready(Ok(BodyEnd::Whole)),
                Gathered::CutShort => return Poll::Ready(Ok(BodyEnd::CutShort)),
                Gathered::FromFile => {
                    if ready!(self.poll_file(out, stream, cx))? == 0 {
                        return Poll::Ready(Ok(BodyEnd::CutShort));
                    }
                }
            }
        }
    }

    /// Moves what is ready into the output, as long as that is not full. Pieces come by the hundred: nothing is decided
    /// again for each of them.
    fn gather(&mut self, out: &mut Output, way: FileWay, cx: &mut Context<'_>) -> Poll<Gathered> {
        while out.len() < FLUSH_AT {
            match &mut self.rest {
                Rest::Done => return Poll::Ready(Gathered::Done),
                Rest::Array(pieces) => {
                    for piece in pieces.by_ref() {
                        out.push(piece, self.chunked);
                        if out.len() >= FLUSH_AT {
                            return Poll::Ready(Gathered::Full);
                        }
                    }
                    self.end(out);
                }
                Rest::Stream { pieces, left } => {
                    while let Some(piece) = match kept_to(ready!(pieces.poll_next(cx)), left) {
                        Ok(piece) => piece,
                        Err(CutShort) => return Poll::Ready(Gathered::CutShort),
                    } {
                        out.push(piece, self.chunked);
                        if out.len() >= FLUSH_AT {
                            return Poll::Ready(Gathered::Full);
                        }
                    }
                    self.end(out);
                }
                Rest::File { left, .. } if way.is_kernels(*left, out.len()) => {
                    return Poll::Ready(Gathered::FromFile);
                }
                rest => {
                    let of_file = if way == FileWay::Read { FLUSH_AT as u64 } else { FILE_HEAD };
                    match ready!(rest.poll_piece(of_file, cx)) {
                        Ok(Some(piece)) => out.push(piece, self.chunked),
                        Ok(None) => self.end(out),
                        Err(CutShort) => return Poll::Ready(Gathered::CutShort),
                    }
                    if way != FileWay::Read && matches!(self.rest, Rest::File { left: 1.., .. }) {
                        return Poll::Ready(Gathered::Full);
                    }
                }
            }
        }
        Poll::Ready(Gathered::Full)
    }

    fn end(&mut self, out: &mut Output) {
        debug_assert!(!matches!(self.rest, Rest::Done), "a body ends once");
        self.rest = Rest::Done;
        if self.chunked {
            chunks::last_chunk(out.buffer(), lines(&self.trailers));
        }
    }

    /// One call of the kernel; how much it sent, 0 when the file has ended before its time.
    fn poll_file(&mut self, out: &mut Output, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Rest::File { file, offset, left } = &mut self.rest else { unreachable!("gathering found a file") };
        let count = (*left).min(FILE_STEP) as usize;
        let sending = stream.poll_send_file(cx, file, offset, count).expect("a plain socket");
        let sent = ready!(sending)?;
        debug_assert!(sent <= count, "{sent} bytes sent, asked for {count}");
        *left -= sent as u64;
        out.count_sent(sent);
        Poll::Ready(Ok(sent))
    }
}

impl Rest {
    /// All of a body.
    pub(crate) fn new(body: Body) -> Self {
        match body {
            Body::Static(bytes) => Rest::Whole(Bytes::from_static(bytes)),
            Body::Bytes(bytes) => Rest::Whole(bytes.into()),
            Body::Shared(bytes) => Rest::Whole(bytes),
            Body::Array(pieces) => Rest::Array(pieces.into_iter()),
            Body::Stream { length, pieces } => Rest::Stream { pieces, left: length },
            Body::File { file, offset, length } => Rest::File { file, offset, left: length },
        }
    }

    /// The next piece, of a file `of_file` bytes at most; `None` at the end.
    pub(crate) fn poll_piece(&mut self, of_file: u64, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, CutShort>> {
        Poll::Ready(match self {
            Rest::Done | Rest::File { left: 0, .. } => Ok(None),
            Rest::Whole(bytes) => Ok(Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty())),
            Rest::Array(pieces) => Ok(pieces.next()),
            Rest::Stream { pieces, left } => kept_to(ready!(pieces.poll_next(cx)), left),
            Rest::File { file, offset, left } => read(file, offset, left, of_file).map(Some),
        })
    }
}

/// A stream failed or kept not to its length, or a file was shorter.
pub(crate) struct CutShort;

/// A piece of a stream, if the stream keeps to the length it declared.
fn kept_to(next: Option<Result<Bytes, String>>, left: &mut Option<u64>) -> Result<Option<Bytes>, CutShort> {
    match (next, left) {
        (Some(Ok(piece)), None) => Ok(Some(piece)),
        (Some(Ok(piece)), Some(left)) => {
            *left = left.checked_sub(piece.len() as u64).ok_or(CutShort)?;
            Ok(Some(piece))
        }
        (None, None | Some(0)) => Ok(None),
        (Some(Err(_)), _) | (None, Some(_)) => Err(CutShort),
    }
}

/// The next piece of a file, which moves on by it.
fn read(file: &File, offset: &mut u64, left: &mut u64, most: u64) -> Result<Bytes, CutShort> {
    let mut piece = vec![0; (*left).min(most) as usize];
    file.read_exact_at(&mut piece, *offset).map_err(|_| CutShort)?;
    *offset += piece.len() as u64;
    *left -= piece.len() as u64;
    Ok(piece.into())
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::{UnixListener, UnixStream};

    use wire::Listener;

    use super::*;
    use crate::outgoing::output::Sent;

    /// A file of this length, behind a head: what its way out cost, and what arrived.
    async fn sent(
        length: usize,
        listener: OwnedFd,
        tcp: bool,
        mut peer: impl Read + Send + 'static,
    ) -> (Sent, Vec<u8>) {
        let (socket, _) = Listener::new(listener, tcp).unwrap().accept().await.unwrap();
        let arrived = std::thread::spawn(move || {
            let mut all = Vec::new();
            peer.read_to_end(&mut all).unwrap();
            all
        });
        let path = std::env::temp_dir().join(format!("onrush-sending-{}-{length}-{tcp}", std::process::id()));
        File::create(&path).unwrap().write_all(&vec![b'f'; length]).unwrap();
        let file = Arc::new(File::open(&path).unwrap());
        std::fs::remove_file(path).unwrap();
        let (mut out, mut stream) = (Output::default(), Stream::plain(socket));
        out.copy(b"head", false);
        let body = Body::File { file, offset: 0, length: length as u64 };
        let mut sending = Sending::new(body, BodyFraming::Length(length as u64), Vec::new());
        let end = poll_fn(|cx| sending.poll(&mut out, &mut stream, cx)).await.unwrap();
        assert_eq!(end, BodyEnd::Whole);
        poll_fn(|cx| out.poll_flush(&mut stream, cx)).await.unwrap();
        drop(stream);
        (out.take_sent(), arrived.join().unwrap())
    }

    #[test]
    fn the_kernel_keeps_a_head_for_the_file_behind_it() {
        let runtime = wire::event_loop().unwrap();
        for (length, tcp, kept_back) in
            [(100_000, true, 1), (FILE_HEAD as usize, true, 0), (100_000, false, 0), (0, true, 0)]
        {
            let (sent, arrived) = runtime.block_on(async {
                if tcp {
                    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
                    let peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                    listener.set_nonblocking(true).unwrap();
                    sent(length, listener.into(), tcp, peer).await
                } else {
                    let path = std::env::temp_dir().join(format!("onrush-sending-{}.sock", std::process::id()));
                    let _ = std::fs::remove_file(&path);
                    let listener = UnixListener::bind(&path).unwrap();
                    let peer = UnixStream::connect(&path).unwrap();
                    std::fs::remove_file(path).unwrap();
                    listener.set_nonblocking(true).unwrap();
                    sent(length, listener.into(), tcp, peer).await
                }
            });
            assert_eq!(sent.kept_back, kept_back, "{length} bytes, tcp: {tcp}");
            assert!(arrived.starts_with(b"head") && arrived.len() == 4 + length, "{length} bytes, tcp: {tcp}");
            assert!(arrived[4..].iter().all(|byte| *byte == b'f'));
        }
    }
}
