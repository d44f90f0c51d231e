//! `k6/x/dns`: `resolve` asks a name server of the script's choice, `lookup` asks the system.
//!
//! Both give promises and are measured by metrics of their own. Messages are a library's; the datagrams and streams are
//! those of `wire`. Nothing is kept from question to question: each one is asked, because answering is what is tested.

mod exchange;
pub(crate) mod question;
mod samples;

use std::rc::Rc;
use std::time::Instant;

use host::Phase;
use host::js::function::Opt;
use host::js::prelude::Func;
use host::js::{Array, Ctx, Error, Object, Promise, Result, Value};
use script::Vu;
use script::arguments::{given, text_or};
use script::builtins::ModuleDef;
use script::go_error;

use self::exchange::Unresolved;
use self::question::Question;
use self::samples::{DnsMetric, DnsSeries, Measured};
use crate::client::dial::Place;
use crate::client::metric_table;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/dns", exports: &["resolve", "lookup"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    metric_table::define::<DnsMetric>(ctx)?;
    let module = Object::new(ctx.clone())?;
    module.set("resolve", Func::from(resolve))?;
    module.set("lookup", Func::from(lookup))?;
    Ok(module)
}

fn resolve<'js>(
    ctx: Ctx<'js>,
    query: Opt<Value<'js>>,
    kind: Opt<Value<'js>>,
    nameserver: Opt<Value<'js>>,
) -> Result<Promise<'js>> {
    let (query, kind) = (text_or(&ctx, query, "")?, text_or(&ctx, kind, "")?);
    let server = given(nameserver).map(|server| host::bytes::to_text(&ctx, &server)).transpose()?;
    let shown = format!("resolve({query:?}, {kind:?}, {:?})", server.as_deref().unwrap_or_default());
    let asked = Question::new(&query, &kind, fastrand::u16(..)).and_then(|question| {
        let server = server.as_deref().ok_or("found no name server, expected \"host:port\"")?;
        Ok((question, place(server)?))
    });
    promise(&ctx, "resolve()", shown, Measured::Resolution, async |vu: &Vu| {
        let (question, place) = asked.map_err(Unresolved::Unasked)?;
        exchange::ask(vu, &place, &question).await
    })
}

fn lookup<'js>(ctx: Ctx<'js>, name: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let name = text_or(&ctx, name, "")?;
    promise(&ctx, "lookup()", format!("lookup({name:?})"), Measured::Lookup, async move |_: &Vu| {
        if name.is_empty() {
            return Err(Unresolved::Unasked(String::from("found an empty name, expected one of a host")));
        }
        let found = wire::client::ask_system(&name).await;
        let found = found.map_err(|failure| Unresolved::Unanswered(failure.message.replace("lookup: ", "")))?;
        Ok(found.iter().map(ToString::to_string).collect())
    })
}

/// The promise of an answer, measured unless the question was never asked. `shown` is the call, for its error.
fn promise<'js>(
    ctx: &Ctx<'js>,
    function: &str,
    shown: String,
    measured: Measured,
    work: impl AsyncFnOnce(&Vu) -> std::result::Result<Vec<String>, Unresolved> + 'static,
) -> Result<Promise<'js>> {
    let vu = Vu::of(ctx);
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(ctx, &format!("{function} in the init context is not supported")));
    }
    let samples = DnsSeries::of(&vu, measured);
    let caller = Rc::clone(&vu);
    let answer = async move {
        let began = Instant::now();
        let answer = work(&caller).await;
        if !matches!(answer, Err(Unresolved::Unasked(_))) {
            samples.add(&caller, began.elapsed());
        }
        answer
    };
    vu.promise(ctx, answer, move |ctx, answer| match answer {
        Ok(texts) => {
            let list = Array::new(ctx.clone())?;
            for (index, text) in texts.into_iter().enumerate() {
                list.set(index, text)?;
            }
            Ok(list.into_value())
        }
        Err(why) => Err(thrown(ctx, &shown, &why)),
    })
}

/// The error of a call: a `GoError`, with the code of the server's answer in `rcode` where there was one.
fn thrown(ctx: &Ctx<'_>, shown: &str, why: &Unresolved) -> Error {
    let thrown = go_error::throw(ctx, &format!("{shown}: {}", why.text()));
    let Unresolved::Refused(rcode) = why else { return thrown };
    let error = ctx.catch();
    if let Some(error) = error.as_object()
        && let Err(failed) = error.set("rcode", rcode.as_str())
    {
        return failed;
    }
    ctx.throw(error)
}

/// `host:port`, or `[address]:port` where the address is of IPv6.
fn place(text: &str) -> std::result::Result<Place, String> {
    let expected = || format!("found the name server {text:?}, expected \"host:port\" or \"[address of IPv6]:port\"");
    let (host, port) = text.rsplit_once(':').ok_or_else(expected)?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let port: u16 = port.parse().ok().filter(|port| *port > 0).ok_or_else(expected)?;
    match bare {
        Some(address) if address.parse::<std::net::Ipv6Addr>().is_ok() => Ok(Place { host: address.to_owned(), port }),
        None if !host.is_empty() && !host.contains([':', '[', '/', '@']) => Ok(Place { host: host.to_owned(), port }),
        _ => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_have_a_host_and_a_port() {
        let shown = |text: &str| place(text).map(|place| (place.host, place.port)).ok();
        assert_eq!(shown("127.0.0.1:53"), Some((String::from("127.0.0.1"), 53)));
        assert_eq!(shown("ns.test:5353"), Some((String::from("ns.test"), 5353)));
        assert_eq!(shown("[::1]:53"), Some((String::from("::1"), 53)));
        for wrong in ["", "127.0.0.1", "::1", "::1:53", "[::1]", "[ns]:53", ":53", "ns:0", "ns:65536", "/run/x:1"] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
        let text = "found the name server \"ns\", expected \"host:port\" or \"[address of IPv6]:port\"";
        assert_eq!(place("ns").unwrap_err(), text);
    }
}
