//! Black-box tests of the real binary, one file a feature. A `Lab` is a folder with scripts; a run gives exit code,
//! standard output and standard error.

mod bad_input;
mod capture;
mod collab;
mod compare;
mod conservation;
mod decoding;
mod delay;
mod documented;
mod errors;
mod examples;
mod experimental;
mod fasthttp;
mod forms;
mod http_debug;
mod judgement;
mod lab;
mod lifecycle;
mod matrix;
mod network;
mod options;
mod output;
mod payloads;
mod pty;
mod quick;
mod report;
mod save;
mod scenarios;
mod serve_app;
mod serve_flags;
mod signals;
mod summary;
mod terminal;
mod time_series;
mod unix_sockets;
mod websockets;
