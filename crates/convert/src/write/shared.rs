//! What requests share, written once above them: the origin that most have, and headers that all have.
//!
//! Headers of one name become one first, as they may on the wire (RFC 9110 section 5.3). Nothing here changes what is
//! sent.

use std::collections::HashMap;

use crate::model::{Request, Test, requests_mut};
use crate::source;
use crate::template::Template;

/// The name of the origin's constant.
const BASE: &str = "BASE_URL";

/// What was found.
#[derive(Debug, Default)]
pub struct Shared {
    /// Lines of init code.
    pub init: Vec<String>,
    /// Headers that every request has: `HEADERS` in the script.
    pub headers: Vec<(String, Template)>,
}

/// Takes out of the requests what they share. `base` takes the place of the origin that most requests have.
pub fn take(test: &mut Test, base: Option<&str>) -> Shared {
    let mut shared = Shared::default();
    each(test, &mut |request| join_repeated(&mut request.headers));
    if let Some(origin) = common_origin(test) {
        let base = base.map_or(origin.clone(), |base| base.trim_end_matches('/').to_owned());
        shared.init.push(format!("const {BASE} = __ENV.{BASE} || {};", source::text(&base)));
        each(test, &mut |request| {
            if origin_of(&request.url).is_some_and(|own| own == origin) {
                request.url = request.url.with_leading_code(origin.len(), BASE);
            }
        });
    }
    let mut common: Option<Vec<(String, Template)>> = None;
    let mut count = 0;
    each(test, &mut |request| {
        count += 1;
        match &mut common {
            None => common = Some(request.headers.clone()),
            Some(common) => common.retain(|header| request.headers.contains(header)),
        }
    });
    let common = common.unwrap_or_default();
    if count > 1 && !common.is_empty() {
        each(test, &mut |request| request.headers.retain(|header| !common.contains(header)));
        shared.headers = common;
    }
    shared
}

fn each<'a>(test: &'a mut Test, change: &mut impl FnMut(&'a mut Request)) {
    test.functions.iter_mut().for_each(|function| requests_mut(&mut function.steps, change));
}

fn join_repeated(headers: &mut Vec<(String, Template)>) {
    let mut joined: Vec<(String, Template)> = Vec::with_capacity(headers.len());
    for (name, value) in headers.drain(..) {
        match joined.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            Some((_, known)) => {
                known.push_text(if name.eq_ignore_ascii_case("cookie") { "; " } else { ", " });
                known.push(&value);
            }
            None => joined.push((name, value)),
        }
    }
    *headers = joined;
}

/// The origin of most requests; of two that are equally frequent the first.
fn common_origin(test: &mut Test) -> Option<String> {
    let (mut counts, mut order) = (HashMap::new(), Vec::new());
    each(test, &mut |request| {
        if let Some(origin) = origin_of(&request.url) {
            *counts.entry(origin.to_owned()).or_insert_with(|| {
                order.push(origin.to_owned());
                0
            }) += 1;
        }
    });
    order.into_iter().rev().max_by_key(|origin| counts.get(origin).copied().unwrap_or(0))
}

/// `scheme://host:port`, when that is text and has no password.
fn origin_of(url: &Template) -> Option<&str> {
    let text = url.leading_text();
    let authority = text.find("://").filter(|at| text[..*at].starts_with("http"))? + 3;
    let length = text[authority..].find(['/', '?', '#']).or(url.as_text().map(|_| text.len() - authority))?;
    let origin = &text[..authority + length];
    (length > 0 && !origin.contains('@')).then_some(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_ends_where_its_path_begins() {
        let mut part = Template::text("http://h:1/a");
        part.push_code("x");
        assert_eq!(origin_of(&part), Some("http://h:1"));
        let mut host = Template::text("http://h");
        host.push_code("port");
        assert_eq!(origin_of(&host), None, "the host goes on in an expression");
        assert_eq!(origin_of(&Template::text("https://h")), Some("https://h"));
        assert_eq!(origin_of(&Template::text("http://u:p@h/")), None);
        assert_eq!(origin_of(&Template::code("BASE")), None);
    }
}
