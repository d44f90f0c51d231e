//! This process and its machine: descriptors, environment, signals, ports, temporary folders.

pub(crate) mod descriptors;
pub(crate) mod environment;
pub(crate) mod listening;
pub(crate) mod machine;
pub(crate) mod private_folder;
pub(crate) mod resources;
pub(crate) mod signals;
pub(crate) mod whole_file;
