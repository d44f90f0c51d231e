//! Names and passwords as a header of a request (RFC 7617).

use crate::template::Template;

/// `Basic …`, computed now where everything is known, else by `b64encode` while the test runs.
pub fn basic(name: &Template, password: &Template) -> Template {
    let mut pair = name.clone();
    pair.push_text(":");
    pair.push(password);
    match pair.as_text() {
        Some(text) => Template::text(format!("Basic {}", base64_simd::STANDARD.encode_to_string(text))),
        None => {
            let mut value = Template::text("Basic ");
            value.push_code(&format!("b64encode({})", pair.expression()));
            value
        }
    }
}

/// Name and password in the URL, where k6 reads them for digest and NTLM.
pub fn with_user(url: &Template, name: &Template, password: &Template) -> Template {
    let Some(at) = url.leading_text().find("://") else { return url.clone() };
    let escaped = |template: &Template| {
        template.with_pieces(
            |text| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string(),
            |code| format!("encodeURIComponent({code})"),
        )
    };
    let mut whole = Template::text(&url.leading_text()[..at + 3]);
    whole.push(&escaped(name));
    whole.push_text(":");
    whole.push(&escaped(password));
    whole.push_text("@");
    whole.push(&url.without_leading(at + 3));
    whole
}
