//! `k6/x/kafka`: writers, readers and topics of Kafka, as in k6's extension of that name.
//!
//! The codec is a library's; connections, leaders, groups and attempts are ours, because the clients that exist open
//! sockets of their own, which a user's link does not carry, and run on other threads.

mod admin;
mod broker;
mod cluster;
pub(crate) mod compression;
mod constants;
mod group;
pub(crate) mod member_message;
mod message;
mod options;
mod partitioner;
mod reader;
mod registry;
mod samples;
pub(crate) mod sasl;
mod writer;

use host::js::prelude::Func;
use host::js::{Ctx, Object, Result};
use script::builtins::ModuleDef;
use script::go_error;

use constants::{TEXTS, TIMES};
use samples::Measure;

use crate::client::metric_table;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/kafka", exports: EXPORTS, load, types: include_str!("types.d.ts") };

const CLASSES: [&str; 5] = ["Writer", "Reader", "Connection", "SchemaRegistry", "LoadJKS"];
const COUNT: usize = CLASSES.len() + TEXTS.len() + TIMES.len();

/// The classes and the constants.
const EXPORTS: &[&str] = &{
    let mut names = [""; COUNT];
    let mut at = 0;
    while at < COUNT {
        let (texts, times) = (CLASSES.len(), CLASSES.len() + TEXTS.len());
        names[at] = if at < texts {
            CLASSES[at]
        } else if at < times {
            TEXTS[at - texts].0
        } else {
            TIMES[at - times].0
        };
        at += 1;
    }
    names
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    metric_table::define::<Measure>(ctx)?;
    let module = Object::new(ctx.clone())?;
    module.set("Writer", writer::constructor(ctx)?)?;
    module.set("Reader", reader::constructor(ctx)?)?;
    module.set("Connection", admin::constructor(ctx)?)?;
    module.set("SchemaRegistry", registry::constructor(ctx)?)?;
    module.set("LoadJKS", Func::from(load_jks))?;
    TEXTS.iter().try_for_each(|(name, value)| module.set(*name, *value))?;
    TIMES.iter().try_for_each(|(name, value)| module.set(*name, *value))?;
    Ok(module)
}

fn load_jks(ctx: Ctx<'_>) -> Result<()> {
    let how = "export the certificates with keytool or openssl, and give the files to tls";
    Err(go_error::throw(&ctx, &format!("LoadJKS: keystores of Java are not supported yet: {how}")))
}
