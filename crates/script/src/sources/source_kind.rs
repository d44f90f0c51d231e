//! What a source is: an ES module or CommonJS.

/// How a module is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Has `import`, `export` or top-level `await`.
    EsModule,
    /// Anything else: a function of `module`, `exports` and `require`.
    CommonJs,
}
