//! `k6/experimental/streams`: the streams of `web/streams`, under the name that k6 gives them.

use script::builtins::ModuleDef;
use script::web::streams;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/experimental/streams",
    exports: streams::NAMES,
    load: |ctx| streams::classes(ctx),
    types: include_str!("types.d.ts"),
};
