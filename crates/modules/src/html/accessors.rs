//! What elements of one tag have besides what every element has: a table of classes, their tags and their fields.
//!
//! Most fields are an attribute, its default, and for some the values that are allowed. The others are functions in
//! `tables.rs`, `controls.rs` and `links.rs`.

use std::ffi::CStr;

use host::js::{Ctx, IntoJs, Object, Result, Value};
use host::object;
use host::plain::{self, Args, Plain};

use super::controls as c;
use super::links as l;
use super::node::{HtmlNode, number, one_of, this_node, whole, words};
use super::tables as t;

/// How a field is read.
enum Accessor {
    /// The attribute, or this.
    Text(&'static str, &'static str),
    /// The attribute, or undefined.
    Maybe(&'static str),
    /// Whether the attribute is there.
    Flag(&'static str),
    /// The attribute as a whole number, or this.
    Whole(&'static str, i32),
    /// The attribute as a number, or 0.
    Number(&'static str),
    /// The attribute when it is one of these, else the first.
    OneOf(&'static str, &'static [&'static str]),
    /// The words of the attribute.
    Words(&'static str),
    /// Always this.
    Fixed(&'static str),
    /// What a function finds.
    Found(for<'js> fn(&Ctx<'js>, &HtmlNode) -> Result<Value<'js>>),
}

use Accessor::{Fixed, Flag, Found, Maybe, Number, OneOf, Text, Whole, Words};

type Fields = &'static [(&'static CStr, Accessor)];

/// One class: its tags and its fields.
struct ElementClass {
    tags: &'static [&'static str],
    fields: &'static [Fields],
}

const fn class(tags: &'static [&'static str], fields: &'static [Fields]) -> ElementClass {
    ElementClass { tags, fields }
}

/// The class of a tag: its place in `CLASSES`.
pub(super) fn class_of(tag: &str) -> Option<usize> {
    CLASSES.iter().position(|class| class.tags.contains(&tag))
}

/// The object with a class's methods.
pub(super) fn prototype<'js>(ctx: &Ctx<'js>, class: usize) -> Result<Object<'js>> {
    let prototype = Object::new(ctx.clone())?;
    for (list, fields) in CLASSES[class].fields.iter().enumerate() {
        for (field, (name, _)) in fields.iter().enumerate() {
            // One number for the class, which of its lists, and which field: none has more than 64.
            let number = (class * 4 + list) * 64 + field;
            let function = plain::function::<ReadAccessor>(ctx, name, number as i32)?;
            object::define(&prototype, name, function.into_value())?;
        }
    }
    Ok(prototype)
}

struct ReadAccessor;

impl Plain for ReadAccessor {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let number = number as usize;
        let (name, field) = &CLASSES[number / 256].fields[number / 64 % 4][number % 64];
        field.read(ctx, &*this_node(ctx, &args, name)?)
    }
}

impl Accessor {
    fn read<'js>(&self, ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
        match self {
            Text(name, absent) => node.attribute(name).unwrap_or(absent).into_js(ctx),
            Maybe(name) => node.attribute(name).into_js(ctx),
            Flag(name) => node.attribute(name).is_some().into_js(ctx),
            Whole(name, absent) => whole(node, name).unwrap_or(*absent).into_js(ctx),
            Number(name) => number(node, name).unwrap_or(0.0).into_js(ctx),
            OneOf(name, allowed) => one_of(node.attribute(name), allowed).into_js(ctx),
            Words(name) => words(node.attribute(name)).into_js(ctx),
            Fixed(text) => text.into_js(ctx),
            Found(find) => find(ctx, node),
        }
    }
}

/// What `a` and `area` have in common.
#[rustfmt::skip]
static HREF: Fields = &[
    (c"accessKey", Text("accesskey", "")), (c"download", Text("download", "")), (c"hash", Found(l::hash)),
    (c"host", Found(l::host)), (c"hostname", Found(l::hostname)), (c"href", Found(l::href)),
    (c"hrefLang", Text("hreflang", "")), (c"origin", Found(l::origin)), (c"password", Found(l::password)),
    (c"pathname", Found(l::pathname)), (c"port", Found(l::port)), (c"protocol", Found(l::protocol)),
    (c"referrerPolicy", Text("referrerpolicy", "")), (c"rel", Text("rel", "")), (c"relList", Words("rel")),
    (c"search", Found(l::search)), (c"target", Text("target", "")), (c"text", Found(c::text)),
    (c"type", Text("type", "")),
    (c"username", Found(l::username)),
];

const METHODS: &[&str] = &["get", "post", "dialog"];

/// What a control has of its form.
#[rustfmt::skip]
static CONTROL: Fields = &[
    (c"form", Found(c::form)), (c"formAction", Found(c::form_action)), (c"formEnctype", Found(c::form_enctype)),
    (c"formMethod", Found(c::form_method)), (c"formNoValidate", Found(c::form_no_validate)),
    (c"formTarget", Found(c::form_target)), (c"labels", Found(c::labels)), (c"name", Text("name", "")),
];

/// What rows of a table are in.
static SECTION: Fields = &[(c"rows", Found(t::rows))];

#[rustfmt::skip]
static CELL: Fields = &[
    (c"cellIndex", Found(t::cell_index)), (c"colSpan", Whole("colspan", 1)), (c"headers", Text("headers", "")),
    (c"rowSpan", Whole("rowspan", 1)),
];

const REMOTE: Accessor = Text("referrerpolicy", "");
const TAB: Accessor = Whole("tabindex", 0);

/// Every class.
#[rustfmt::skip]
static CLASSES: &[ElementClass] = &[
    class(&["a", "area"], &[HREF]),
    class(&["base"], &[&[(c"href", Text("href", "")), (c"target", Text("target", ""))]]),
    class(&["button"], &[CONTROL, &[
        (c"accessKey", Text("accesskey", "")), (c"autofocus", Flag("autofocus")), (c"disabled", Found(c::disabled)),
        (c"tabIndex", TAB), (c"type", OneOf("type", &["submit", "button", "menu", "reset"])),
        (c"value", Text("value", "")),
    ]]),
    class(&["canvas"], &[&[(c"height", Whole("height", 150)), (c"width", Whole("width", 150))]]),
    class(&["data"], &[&[(c"value", Text("value", ""))]]),
    class(&["datalist"], &[&[(c"options", Found(c::options))]]),
    class(&["embed"], &[&[
        (c"height", Text("height", "")), (c"src", Text("src", "")), (c"type", Text("type", "")),
        (c"width", Text("width", "")),
    ]]),
    class(&["fieldset"], &[&[
        (c"disabled", Flag("disabled")), (c"elements", Found(c::elements)), (c"form", Found(c::form)),
        (c"name", Text("name", "")), (c"type", Fixed("fieldset")),
        (c"validity", Found(|ctx, _| Ok(Value::new_undefined(ctx.clone())))),
    ]]),
    class(&["form"], &[&[
        (c"acceptCharset", Text("accept-charset", "")), (c"action", Text("action", "")),
        (c"autocomplete", OneOf("autocomplete", &["on", "off"])), (c"elements", Found(c::elements)),
        (c"encoding", OneOf("enctype", c::ENCTYPES)), (c"enctype", OneOf("enctype", c::ENCTYPES)),
        (c"length", Found(c::length)), (c"method", OneOf("method", METHODS)), (c"name", Text("name", "")),
        (c"noValidate", Flag("novalidate")), (c"target", Text("target", "")),
    ]]),
    class(&["iframe"], &[&[
        (c"allowfullscreen", Flag("allowfullscreen")), (c"height", Text("height", "")), (c"name", Text("name", "")),
        (c"referrerPolicy", REMOTE), (c"src", Text("src", "")), (c"width", Text("width", "")),
    ]]),
    class(&["img"], &[&[
        (c"alt", Text("alt", "")), (c"crossOrigin", Maybe("crossorigin")), (c"currentSrc", Text("src", "")),
        (c"height", Whole("height", 0)), (c"isMap", Flag("ismap")), (c"name", Text("name", "")),
        (c"referrerPolicy", REMOTE),
        (c"sizes", Text("sizes", "")), (c"src", Text("src", "")), (c"srcset", Text("srcset", "")),
        (c"useMap", Text("usemap", "")), (c"width", Whole("width", 0)),
    ]]),
    class(&["input"], &[CONTROL, &[
        (c"accept", Text("accept", "")), (c"accessKey", Text("accesskey", "")), (c"alt", Text("alt", "")),
        (c"autocomplete", OneOf("autocomplete", &["on", "off"])), (c"autofocus", Flag("autofocus")),
        (c"checked", Flag("checked")), (c"defaultChecked", Flag("checked")), (c"defaultValue", Text("value", "")),
        (c"dirName", Text("dirname", "")), (c"disabled", Found(c::disabled)), (c"height", Text("height", "")),
        (c"list", Found(c::list)), (c"max", Text("max", "")), (c"maxLength", Whole("maxlength", -1)),
        (c"min", Text("min", "")),
        (c"multiple", Flag("multiple")), (c"pattern", Text("pattern", "")), (c"placeholder", Text("placeholder", "")),
        (c"readonly", Flag("readonly")), (c"required", Flag("required")), (c"size", Whole("size", 0)),
        (c"src", Text("src", "")),
        (c"step", Text("step", "")), (c"tabIndex", TAB), (c"type", OneOf("type", c::INPUT_TYPES)),
        (c"value", Text("value", "")), (c"width", Text("width", "")),
    ]]),
    class(&["keygen"], &[&[
        (c"autofocus", Flag("autofocus")), (c"challenge", Text("challenge", "")), (c"disabled", Flag("disabled")),
        (c"form", Found(c::form)), (c"keytype", OneOf("keytype", &["RSA", "DSA", "EC"])), (c"labels", Found(c::labels)),
        (c"name", Text("name", "")), (c"type", Fixed("keygen")),
    ]]),
    class(&["label"], &[&[
        (c"control", Found(c::control)), (c"form", Found(c::form_of_control)), (c"htmlFor", Text("for", "")),
    ]]),
    class(&["legend"], &[&[(c"accessKey", Text("accesskey", "")), (c"form", Found(c::form))]]),
    class(&["li"], &[&[(c"type", Text("type", "")), (c"value", Whole("value", 0))]]),
    class(&["link"], &[&[
        (c"crossOrigin", Maybe("crossorigin")), (c"href", Text("href", "")), (c"hreflang", Text("hreflang", "")),
        (c"media", Text("media", "")), (c"referrerPolicy", REMOTE), (c"rel", Text("rel", "")),
        (c"relList", Words("rel")),
        (c"target", Text("target", "")), (c"type", Text("type", "")),
    ]]),
    class(&["map"], &[&[(c"areas", Found(l::areas)), (c"images", Found(l::images)), (c"name", Text("name", ""))]]),
    class(&["audio", "video"], &[&[
        (c"autoplay", Flag("autoplay")), (c"controls", Flag("controls")), (c"crossOrigin", Maybe("crossorigin")),
        (c"currentSrc", Text("src", "")), (c"defaultMuted", Flag("muted")), (c"loop", Flag("loop")),
        (c"mediaGroup", Text("mediagroup", "")), (c"muted", Flag("muted")),
        (c"preload", OneOf("preload", &["auto", "metadata", "none"])), (c"src", Text("src", "")),
        (c"textTracks", Found(l::text_tracks)),
    ]]),
    class(&["meta"], &[&[
        (c"content", Text("content", "")),
        (c"httpEquiv", OneOf("http-equiv", &["content-type", "default-style", "refresh"])), (c"name", Text("name", "")),
    ]]),
    class(&["meter"], &[&[
        (c"high", Number("high")), (c"labels", Found(c::labels)), (c"low", Number("low")), (c"max", Number("max")),
        (c"min", Number("min")), (c"optimum", Number("optimum")),
    ]]),
    class(&["del", "ins"], &[&[(c"cite", Text("cite", "")), (c"datetime", Text("datetime", ""))]]),
    class(&["object"], &[&[
        (c"data", Text("data", "")), (c"form", Found(c::form)), (c"height", Text("height", "")),
        (c"name", Text("name", "")),
        (c"tabIndex", TAB), (c"type", Text("type", "")), (c"typeMustMatch", Flag("typemustmatch")),
        (c"useMap", Text("usemap", "")), (c"width", Text("width", "")),
    ]]),
    class(&["ol"], &[&[(c"reversed", Flag("reversed")), (c"start", Whole("start", 0)), (c"type", Text("type", "1"))]]),
    class(&["optgroup"], &[&[(c"disabled", Flag("disabled")), (c"label", Text("label", ""))]]),
    class(&["option"], &[&[
        (c"defaultSelected", Flag("selected")), (c"disabled", Found(c::option_disabled)), (c"form", Found(c::form)),
        (c"index", Found(c::option_index)), (c"label", Found(c::option_label)), (c"selected", Flag("selected")),
        (c"text", Found(c::text)), (c"value", Found(c::value)),
    ]]),
    class(&["output"], &[&[
        (c"defaultValue", Found(c::text)), (c"form", Found(c::form)), (c"htmlFor", Text("for", "")),
        (c"labels", Found(c::labels)), (c"name", Text("name", "")), (c"type", Fixed("output")),
        (c"value", Found(c::text)),
    ]]),
    class(&["param", "pre"], &[&[(c"name", Text("name", "")), (c"value", Text("value", ""))]]),
    class(&["progress"], &[&[
        (c"labels", Found(c::labels)), (c"max", Found(c::progress_max)), (c"position", Found(c::progress_position)),
        (c"value", Found(c::progress_value)),
    ]]),
    class(&["quote"], &[&[(c"cite", Text("cite", ""))]]),
    class(&["script"], &[&[
        (c"async", Flag("async")), (c"charset", Text("charset", "")), (c"crossOrigin", Text("crossorigin", "")),
        (c"defer", Flag("defer")), (c"noModule", Flag("nomodule")), (c"src", Text("src", "")),
        (c"text", Found(c::text)),
        (c"type", Text("type", "")),
    ]]),
    class(&["select"], &[&[
        (c"autofocus", Flag("autofocus")), (c"disabled", Found(c::disabled)), (c"form", Found(c::form)),
        (c"labels", Found(c::labels)), (c"length", Found(c::option_count)), (c"multiple", Flag("multiple")),
        (c"name", Text("name", "")), (c"options", Found(c::options)), (c"required", Flag("required")),
        (c"selectedIndex", Found(c::selected_index)), (c"selectedOptions", Found(c::selected_options)),
        (c"size", Found(c::select_size)), (c"tabIndex", TAB), (c"type", Found(c::select_type)),
        (c"value", Found(c::select_value)),
    ]]),
    class(&["source"], &[&[
        (c"keySystem", Text("keysystem", "")), (c"media", Text("media", "")), (c"sizes", Text("sizes", "")),
        (c"src", Text("src", "")), (c"srcset", Text("srcset", "")), (c"type", Text("type", "")),
    ]]),
    class(&["style"], &[&[(c"media", Text("media", "")), (c"type", Text("type", "text/css"))]]),
    class(&["table"], &[&[
        (c"caption", Found(t::caption)), (c"rows", Found(t::rows)), (c"sortable", Flag("sortable")),
        (c"tBodies", Found(t::bodies)),
        (c"tFoot", Found(t::foot)), (c"tHead", Found(t::head)),
    ]]),
    class(&["td"], &[CELL]),
    class(&["th"], &[CELL, &[(c"abbr", Text("abbr", "")), (c"scope", Text("scope", "")), (c"sorted", Flag("sorted"))]]),
    class(&["tr"], &[&[
        (c"cells", Found(t::cells)), (c"rowIndex", Found(t::row_index)),
        (c"sectionRowIndex", Found(t::section_row_index)),
    ]]),
    class(&["tbody", "tfoot", "thead"], &[SECTION]),
    class(&["textarea"], &[&[
        (c"accessKey", Text("accesskey", "")),
        (c"autocapitalize", OneOf("autocapitalize", &["sentences", "none", "off", "characters", "words"])),
        (c"autocomplete", OneOf("autocomplete", &["on", "off"])), (c"cols", Whole("cols", 0)),
        (c"defaultValue", Found(c::text)),
        (c"form", Found(c::form)), (c"labels", Found(c::labels)), (c"length", Found(c::text_length)),
        (c"maxLength", Whole("maxlength", 0)), (c"placeholder", Text("placeholder", "")),
        (c"readOnly", Flag("readonly")),
        (c"required", Flag("required")), (c"rows", Whole("rows", 0)), (c"tabIndex", TAB), (c"type", Fixed("textarea")),
        (c"value", Found(c::text)), (c"wrap", OneOf("wrap", &["soft", "hard", "off"])),
    ]]),
    class(&["time"], &[&[(c"datetime", Text("datetime", ""))]]),
    class(&["title"], &[&[(c"text", Found(c::text))]]),
    class(&["track"], &[&[
        (c"default", Flag("default")),
        (c"kind", OneOf("kind", &["subtitle", "captions", "chapters", "descriptions", "metadata"])),
        (c"label", Text("label", "")), (c"src", Text("src", "")), (c"srclang", Text("srclang", "")),
    ]]),
    class(&["ul"], &[&[(c"type", Text("type", ""))]]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_tag_has_one_class_that_its_number_can_name() {
        let mut tags = BTreeSet::new();
        for class in CLASSES {
            assert!(class.fields.len() <= 4 && class.fields.iter().all(|fields| fields.len() <= 64));
            assert!(class.tags.iter().all(|tag| tags.insert(*tag)), "{:?}", class.tags);
        }
        assert_eq!(CLASSES[class_of("video").expect("it has one")].tags, ["audio", "video"]);
        assert_eq!(class_of("section"), None);
    }
}
