//! `k6/secrets`: secrets that the script does not contain, from the sources that `--secret-source` names.
//!
//! `get` gives a promise. A value that was given once is hidden from then on in what Onrush prints and keeps.

use std::sync::Arc;

use host::js::function::{Func, Opt};
use host::js::{Ctx, Function, IntoJs, Object, Promise, Result, Value};

use script::Vu;
use script::arguments::text_or;
use script::builtins::ModuleDef;
use script::go_error;
use script::secrets::{SecretKind, Secrets};

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/secrets", exports: &["get", "source"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = source_object(ctx, None)?;
    let source = |ctx: Ctx<'js>, name: Opt<Value<'js>>| -> Result<Object<'js>> {
        let name = text_or(&ctx, name, "")?;
        let secrets = Vu::of(&ctx).shared().secrets().clone();
        secrets.source(Some(&name)).map_err(|message| go_error::throw(&ctx, &message))?;
        source_object(&ctx, Some(name))
    };
    module.set("source", Func::from(source))?;
    Ok(module)
}

/// `{ get }` of a source, or of the default one.
fn source_object<'js>(ctx: &Ctx<'js>, name: Option<String>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let get = move |ctx: Ctx<'js>, key: Opt<Value<'js>>| get(&ctx, name.clone(), text_or(&ctx, key, "")?);
    object.set("get", Function::new(ctx.clone(), get)?.with_name("get")?)?;
    Ok(object)
}

fn get<'js>(ctx: &Ctx<'js>, name: Option<String>, key: String) -> Result<Promise<'js>> {
    let vu = Vu::of(ctx);
    let secrets = vu.shared().secrets().clone();
    let context = vu.client_context();
    vu.promise(ctx, find(secrets, name, key, context), |ctx, found| match found {
        Ok(secret) => secret.into_js(ctx),
        Err(message) => Err(go_error::throw(ctx, &message)),
    })
}

async fn find(
    secrets: Arc<Secrets>,
    name: Option<String>,
    key: String,
    context: std::rc::Rc<wire::ClientContext>,
) -> std::result::Result<String, String> {
    let source = secrets.source(name.as_deref())?;
    let SecretKind::Url(url) = &source.kind else { return secrets.known(source, &key) };
    let secret = match url.remembered(&key) {
        Some(secret) => secret,
        None => url.fetch(&key, context).await?,
    };
    secrets.hide(&secret);
    Ok(secret)
}
