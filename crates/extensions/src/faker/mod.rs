//! `k6/x/faker`: made-up names, addresses, texts and numbers, the same ones for the same seed.
//!
//! Most functions give an entry of a list of our own, and stand before that list in `make/words.txt`; the others are
//! lines of a file in `table`, some with lists of the crate `fake`. Of both the methods, `call` and the second half of
//! `types.d.ts` are made.

mod class;
mod groups;
mod make;
mod table;
#[cfg(test)]
mod types;

use host::js::{Ctx, Object, Result};
use script::Vu;
use script::builtins::ModuleDef;
use script::globals::environment;
use script::go_error;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/faker", exports: &["Faker"], load, types: include_str!("types.d.ts") };

/// The variables that give the standard faker its seed, the first one that is there.
const SEED_VARIABLES: [&str; 2] = ["XK6_FAKER_SEED", "K6_FAKER_SEED"];

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let vu = Vu::of(ctx);
    let mut seed = 0;
    for name in SEED_VARIABLES {
        let Some(text) = environment::variable(&vu, name).filter(|text| !text.is_empty()) else { continue };
        seed = text
            .parse::<i64>()
            .map_err(|_| go_error::throw(ctx, &format!("k6/x/faker: {name} is {text:?}, expected a whole number")))?;
        break;
    }
    let module = Object::new(ctx.clone())?;
    module.set("Faker", class::constructor(ctx)?)?;
    module.set("default", class::object(ctx, seed as u64)?)?;
    Ok(module)
}
