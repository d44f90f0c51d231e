//! Managers of a plan: credentials of the Authorization Manager, cookies of the Cookie Manager, addresses of the DNS
//! Cache Manager.
//!
//! Credentials go with requests below their URL and with no others. Cookies are put into the jar at the beginning of an
//! iteration, which JMeter does when the thread begins.

use super::plan::Plan;
use super::scope::Scope;
use super::xml::Element;
use crate::credentials::{basic, with_user};
use crate::model::{Request, Step};
use crate::source;

impl Plan<'_> {
    /// Adds the credentials that the innermost manager has for a URL; what is given by a header stays.
    pub(super) fn add_credentials(&mut self, url: &str, scope: &Scope, request: &mut Request) {
        let managers = scope.credentials.iter().rev();
        let mut entries = managers.flat_map(|manager| manager.list("AuthManager.auth_list"));
        let found = entries.find(|entry| is_below(url, &self.variables.resolved(entry.text_of("Authorization.url"))));
        let Some(entry) = found else { return };
        if request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            return;
        }
        let name = self.variables.template(entry.text_of("Authorization.username"));
        let password = self.variables.template(entry.text_of("Authorization.password"));
        let place = format!("line {}", entry.line);
        match (entry.text_of("Authorization.domain").trim(), entry.text_of("Authorization.mechanism").trim()) {
            ("", "" | "BASIC" | "BASIC_DIGEST") => {
                let value = basic(&name, &password);
                if value.as_text().is_none() {
                    self.test.imports.insert(String::from("import { b64encode } from 'k6/encoding';"));
                }
                request.headers.push((String::from("Authorization"), value));
            }
            ("", "DIGEST") => {
                request.params.push((String::from("auth"), String::from("'digest'")));
                request.url = with_user(&request.url, &name, &password);
            }
            (domain, mechanism) => {
                let shown = format!("{mechanism} {domain}");
                self.notes.add(place, format!("authorization by {} is left out", shown.trim().escape_debug()));
            }
        }
    }

    /// Entries below whose URL no request is are not needed.
    pub(super) fn visit_credentials(&self, manager: &Element) {
        manager.visit();
        for entry in manager.list("AuthManager.auth_list") {
            for field in ["url", "username", "password", "domain", "mechanism"] {
                entry.text_of(&format!("Authorization.{field}"));
            }
        }
    }

    /// Lines that put the cookies of a manager into the jar.
    pub(super) fn cookies(&mut self, manager: &Element) -> Vec<String> {
        manager.visit();
        let by_group = manager.is("CookieManager.controlledByThreadGroup") && self.declarations.has_new_users;
        let clears = manager.is("CookieManager.clearEachIteration") || by_group;
        if !clears && !self.keeps_cookies {
            self.keeps_cookies = true;
            self.test.option_code("noCookiesReset", String::from("true"));
        } else if clears && self.keeps_cookies {
            let why = "a Cookie Manager clears its cookies each iteration, another keeps them; the script keeps all";
            self.notes.add(format!("line {}", manager.line), why);
        }
        let mut lines = Vec::new();
        for cookie in manager.list("CookieManager.cookies") {
            let name = Some(cookie.text_of("Cookie.name")).filter(|name| !name.is_empty());
            let name = self.variables.template(name.unwrap_or(cookie.attribute("name")));
            let value = self.variables.template(cookie.text_of("Cookie.value")).expression();
            let domain = cookie.text_of("Cookie.domain").trim();
            let path = Some(cookie.text_of("Cookie.path").trim()).filter(|path| path.starts_with('/')).unwrap_or("/");
            let is_secure = cookie.is("Cookie.secure");
            if domain.is_empty() {
                let why = format!("the cookie {} has no domain; it is left out", name.expression());
                self.notes.add(format!("line {}", cookie.line), why);
                continue;
            }
            let scheme = if is_secure { "https" } else { "http" };
            let url = self.variables.template(&format!("{scheme}://{}{path}", domain.trim_start_matches('.')));
            let mut fields = vec![(String::from("path"), source::text(path))];
            if let Some(domain) = domain.strip_prefix('.') {
                fields.push((String::from("domain"), self.variables.template(domain).expression()));
            }
            if is_secure {
                fields.push((String::from("secure"), String::from("true")));
            }
            let fields = source::object(&fields, 2);
            lines.push(format!(
                "http.cookieJar().set({}, {}, {value}, {fields});",
                url.expression(),
                name.expression()
            ));
        }
        lines
    }

    /// Where cookies are kept from one iteration to the next, the first one alone sets them.
    pub(super) fn cookie_step(&self, lines: Vec<String>) -> Step {
        match self.keeps_cookies && !self.is_once {
            true => Step::Block(String::from("if (__ITER === 0)"), vec![Step::Code(lines)]),
            false => Step::Code(lines),
        }
    }

    /// Fixed addresses, as the option `hosts`.
    pub(super) fn addresses(&mut self, manager: &Element) {
        manager.visit();
        let hosts = manager.list("DNSCacheManager.hosts");
        for host in hosts {
            let name = self.variables.resolved(host.text_of("StaticHost.Name").trim());
            let address = self.variables.resolved(host.text_of("StaticHost.Address").trim());
            match address.parse::<std::net::IpAddr>() {
                Ok(_) if !name.is_empty() => self.hosts.push((name, source::text(&address))),
                _ => {
                    let why =
                        format!("the address '{}' of {name} is not an IP address; left out", address.escape_debug());
                    self.notes.add(format!("line {}", host.line), why);
                }
            }
        }
    }
}

/// JMeter compares texts, with the port of the scheme and without it.
fn is_below(url: &str, base: &str) -> bool {
    let with_port = |port: &str, scheme: &str| {
        let rest = url.strip_prefix(scheme)?;
        let end = rest.find('/').unwrap_or(rest.len());
        Some(format!("{scheme}{}{port}{}", &rest[..end], &rest[end..]))
    };
    let explicit = with_port(":80", "http://").or_else(|| with_port(":443", "https://"));
    url.starts_with(base) || explicit.is_some_and(|url| url.starts_with(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_below_their_url() {
        for (url, base, expected) in [
            ("http://h/private/a", "http://h/private", true),
            ("http://h/open", "http://h/private", false),
            ("http://h/a", "http://h:80/a", true),
            ("https://h/a", "https://h:443/", true),
            ("http://h:81/a", "http://h/a", false),
            ("http://h/a", "", true),
        ] {
            assert_eq!(is_below(url, base), expected, "{url} {base}");
        }
    }
}
