//! Where received WebSocket messages are logged: implemented by whoever runs the test.

/// Where the lines of all workers go.
pub trait MessageSink: Send + Sync {
    /// For the calling worker.
    fn open(&self) -> Box<dyn MessageLines>;
}

/// Where the lines of a worker go.
pub trait MessageLines {
    /// Takes a line that ends with a line feed, or loses it; never waits.
    fn put(&self, line: &[u8]);
}
