//! `body()` of a form is recognised by what it does, however it is written, and nothing else is.
//!
//! The form here does its work in the manner of k6's library and is not its text. Its variants are what minifiers,
//! compilers and people make of such a class.

use script::builtins::LibraryText;
use script::loader::library::{assembly_signatures, replace};
use script::loader::transpile::to_javascript;
use script::source_kind::SourceKind;

const PLAIN: &str = r#"
function Parcel() {
  if (!(this instanceof Parcel)) return new Parcel();
  this.edge = 'edge' + Math.random();
  this.rows = [];
}
Parcel.prototype.add = function (title, load) { this.rows.push({ title: title, load: load }); };
Parcel.prototype.octets = function (value) {
  var out = [];
  if (typeof value == 'string') {
    for (var i = 0; i < value.length; ++i) out.push(value.charCodeAt(i) & 255);
    return out;
  }
  if (!('byteOffset' in value)) value = new Uint8Array(value);
  for (var k = 0, end = value.byteLength; k < end; ++k) out.push(value[k]);
  return out;
};
Parcel.prototype.body = function () {
  var all = [];
  for (var n = 0; n < this.rows.length; n++) {
    var row = this.rows[n];
    var head = '--' + this.edge + '\r\nContent-Disposition: form-data; name="' + row.title + '"';
    if (row.load.filename) {
      head += '; filename="' + row.load.filename.replace(/"/g, '%22') + '"';
    }
    head += '\r\nContent-Type: ' + (row.load.content_type || 'text/plain') + '\r\n\r\n';
    Array.prototype.push.apply(all, this.octets(head));
    var data = Array.isArray(row.load.data) ? row.load.data : this.octets(row.load.data);
    Array.prototype.push.apply(all, data);
  }
  Array.prototype.push.apply(all, this.octets('--' + this.edge + '--\r\n'));
  return new Uint8Array(all).buffer;
};
"#;

const MANGLED: &str = r#"function r(){if(!(this instanceof r))return new r;
this.edge="edge"+Math.random(),this.rows=[]}
r.prototype.add=function(r,t){this.rows.push({title:r,load:t})},r.prototype.octets=function(r){var t=[];
if("string"==typeof r)
{for(var e=0;e<r.length;++e)t.push(255&r.charCodeAt(e));return t}"byteOffset"in r||(r=new Uint8Array(r));
for(var n=0,a=
r.byteLength;n<a;++n)t.push(r[n]);return t},r.prototype.body=function(){for(var r=[],t=0;
t<this.rows.length;t++){var e=this.rows[t],
n="--"+this.edge+'\r\nContent-Disposition: form-data; name="'+e.title+'"';e.load.filename&&(n+='; filename="'+
e.load.filename.replace(/"/g,"%22")+'"'),n+="\r\nContent-Type: "+(e.load.content_type||"text/plain")+"\r\n\r\n",
Array.prototype.push.apply(r,this.octets(n));var a=Array.isArray(e.load.data)?e.load.data:this.octets(e.load.data);
Array.prototype.push.apply(r,a)}return Array.prototype.push.apply(r,
this.octets("--"+this.edge+"--\r\n")),new Uint8Array(r).buffer};"#;

/// Assignments within arguments, one name for two variables, the negated choice.
const SQUEEZED: &str = r#"var P=function t(){this.rows=[],this.edge="edge"};
P.prototype.octets=function(t){var e,o,n=[];if(
"string"!=typeof t){for(o=(t="byteOffset"in t?t:new Uint8Array(t)).byteLength,e=0;e<o;)n.push(t[e]),++e;
return n}for(var i=0;
i<t.length;i++)n.push(t.charCodeAt(i)&255);return n};P.prototype.body=function(){var t,e,o=[],n=this;
for(t=0;t<n.rows.length;++t){
e="--"+n.edge+"\r\nContent-Disposition: form-data; name=\""+n.rows[t].title+"\"";
n.rows[t].load.filename&&(e+="; filename=\""+
n.rows[t].load.filename.replace(/"/g,"%22")+"\"");o.push.apply(o,
n.octets(e+="\r\nContent-Type: "+(n.rows[t].load.content_type||
"text/plain")+"\r\n\r\n"));e=!Array.isArray(n.rows[t].load.data)?n.octets(n.rows[t].load.data):n.rows[t].load.data;
o.push.apply(o,e)}return[].push.apply(o,n.octets("--"+n.edge+"--\r\n")),new Uint8Array(o).buffer};"#;

/// As people write it today; `METHODS` are more methods.
const CLASS: &str = r#"class Parcel {
  edge = `edge${Math.random()}`;
  rows = [];
  METHODS
  add(title, load) { this.rows.push({ title, load }); }
  octets(value) {
    const out = [];
    if (typeof value === 'string') {
      for (let i = 0; i < value.length; i++) { out.push(value.charCodeAt(i) & 0xff); }
      return out;
    }
    if (!('byteOffset' in value)) { value = new Uint8Array(value); }
    for (let k = 0, end = value.byteLength; k < end; k++) { out.push(value[k]); }
    return out;
  }
  body() {
    const all = [];
    for (const { title, load } of this.rows) {
      let head = `--${this.edge}\r\nContent-Disposition: form-data; name="${title}"`;
      if (load.filename) { head += `; filename="${load.filename.replaceAll('"', '%22')}"`; }
      head += `\r\nContent-Type: ${load.content_type || 'text/plain'}\r\n\r\n`;
      all.push(...this.octets(head));
      all.push(...(Array.isArray(load.data) ? load.data : this.octets(load.data)));
    }
    all.push(...this.octets(`--${this.edge}--\r\n`));
    return Uint8Array.from(all).buffer;
  }
}"#;

/// Of a class, by a compiler for old engines.
fn lowered() -> String {
    let methods = [("add", "add"), ("octets", "octets"), ("body", "body")].map(|(name, method)| {
        let start =
            PLAIN.find(&format!("Parcel.prototype.{method} = ")).expect("it has it") + "Parcel.prototype. = ".len();
        let text = &PLAIN[start + method.len()..];
        let text = &text[..text.find("};").expect("it ends") + 1];
        format!("{{ key: '{name}', value: {} }}", if name == "add" { "function () {}" } else { text })
    });
    format!(
        "var Parcel = function () {{ function Parcel() {{ _classCallCheck(this, Parcel);
        this.edge = 'e'; this.rows = []; }}
        return _createClass(Parcel, [{}]); }}();",
        methods.join(", ")
    )
}

fn variants() -> Vec<(&'static str, String)> {
    let class = CLASS.replace("METHODS", "");
    let private = class.replace("this.rows", "this.#rows").replace("  rows =", "  #rows =");
    let private = private.replace("this.octets", "this.#octets").replace("  octets(", "  #octets(");
    let typed = CLASS.replace("METHODS", "private boundaryOf(): string { return this.edge }");
    let typed = typed.replace("rows = []", "private rows: { title: string, load: any }[] = []");
    let typed = typed.replace("octets(value)", "octets(value: any): number[]").replace("body()", "body(): ArrayBuffer");
    let spread = PLAIN.replace(
        "Array.prototype.push.apply(all, this.octets(head))",
        "all.push.apply(all, _toConsumableArray(this.octets(head)))",
    );
    let spread =
        spread.replace("Array.prototype.push.apply(all, data)", "all.push.apply(all, __spreadArray([], data, false))");
    let concat = PLAIN.replace("'--' + this.edge + '--\\r\\n'", "\"--\".concat(this.edge, \"--\\r\\n\")");
    let (before, method) = PLAIN.split_once("Parcel.prototype.octets = ").expect("it has it");
    let (helper, after) = method.split_once("};\n").expect("it ends");
    let free = format!("const octets = {helper}}};\n{before}{}", after.replace("this.octets(", "octets("));
    let own = free.replace("this.rows = [];", "this.rows = []; this.octets = octets;");
    vec![
        ("mangled", MANGLED.to_owned()),
        ("squeezed", SQUEEZED.to_owned()),
        ("class", class.clone()),
        ("class expression", format!("const P = {class};")),
        ("private", private),
        ("types", typed),
        (
            "method more",
            PLAIN.to_owned() + "Parcel.prototype.type = function () { return 'x; boundary=' + this.edge };",
        ),
        ("method more of a class", CLASS.replace("METHODS", "get size() { return this.rows.length }")),
        ("other constructor", PLAIN.replace("'edge' + Math.random()", "'----' + Date.now()")),
        (
            "other names of properties",
            PLAIN.replace("edge", "boundary").replace("rows", "parts").replace("load", "file"),
        ),
        ("lowered", lowered()),
        ("lowered spread", spread),
        ("lowered template", concat),
        ("helper on its own", free),
        ("helper on its own and as a property", own),
        ("helper in the constructor", {
            let helper = PLAIN.replace("Parcel.prototype.octets = ", "function setUp(parcel) { parcel.octets = ");
            helper.replace("Parcel.prototype.body", "}\nParcel.prototype.body")
        }),
        ("bundle", format!("var all = {{ 7: (e, t) => {{ e.exports = Parcel; {PLAIN} }} }};")),
        ("alias and counted length", {
            let counted = PLAIN.replace(
                "var n = 0; n < this.rows.length;",
                "var n = 0, rows = this.rows, end = rows.length; n < end;",
            );
            counted.replace("this.rows[n]", "rows[n]")
        }),
    ]
}

fn signatures(name: &str, code: &str) -> Vec<String> {
    let file = if name == "types" { "file:///f.ts" } else { "file:///f.js" };
    let output = to_javascript(file, code, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
    assembly_signatures(&output.code, output.kind)
}

#[test]
fn one_body_written_in_many_ways_is_one() {
    let plain = signatures("plain", PLAIN);
    assert_eq!(plain.len(), 1);
    for (name, code) in variants() {
        assert_eq!(signatures(name, &code), plain, "{name}: {code}");
    }
}

#[test]
fn a_body_that_does_something_else_is_another() {
    let plain = signatures("plain", PLAIN);
    for (from, to) in [
        ("'--' + this.edge + '--\\r\\n'", "'--' + this.edge + '--'"),
        ("'--' + this.edge + '\\r\\nContent", "'--' + this.edge + '\\nContent"),
        ("'--' + this.edge + '\\r\\nContent", "'--' + this.edge + Math.random() + '\\r\\nContent"),
        ("'--' + this.edge + '--\\r\\n'", "'--' + this.end + '--\\r\\n'"),
        ("n = 0; n < this.rows.length", "n = 1; n < this.rows.length"),
        ("n < this.rows.length", "n <= this.rows.length"),
        ("n < this.rows.length; n++", "n < this.rows.length; n += 2"),
        ("row.load.content_type || 'text/plain'", "row.load.content_type || 'text/html'"),
        ("row.load.content_type || 'text/plain'", "row.load.content_type && 'text/plain'"),
        ("/\"/g, '%22'", "/\"/, '%22'"),
        ("if (row.load.filename)", "if (!row.load.filename)"),
        ("row.load.filename.replace", "row.load.name.replace"),
        ("Array.isArray(row.load.data) ? row.load.data : this.octets(row.load.data)", "this.octets(row.load.data)"),
        ("push.apply(all, data)", "unshift.apply(all, data)"),
        ("push.apply(all, data)", "push.apply(data, all)"),
        ("Array.prototype.push.apply(all, data);", "Array.prototype.push.apply(all, data); this.rows.pop();"),
        ("Array.prototype.push.apply(all, data);", "Array.prototype.push.apply(all, data); break;"),
        ("new Uint8Array(all).buffer", "new Uint8Array(all)"),
        ("new Uint8Array(all).buffer", "new Uint16Array(all).buffer"),
        ("charCodeAt(i) & 255", "charCodeAt(i) & 127"),
        ("charCodeAt(i) & 255", "charCodeAt(i)"),
        ("k < end", "k <= end"),
        ("!('byteOffset' in value)", "'byteOffset' in value"),
        ("typeof value == 'string'", "typeof value != 'string'"),
        ("body = function ()", "body = async function ()"),
        ("body = function ()", "body = function (boundary)"),
        ("function Parcel", "var Uint8Array = Array;\nfunction Parcel"),
        ("function Parcel", "var Array = { prototype: [], isArray() {} };\nfunction Parcel"),
        // Which of the two is called cannot be known.
        ("function Parcel", "class Other { octets(value) { return []; } }\nfunction Parcel"),
        ("function Parcel", "Parcel.prototype.octets = something;\nfunction Parcel"),
    ] {
        let other = PLAIN.replacen(from, to, 1);
        assert_ne!(other, PLAIN, "{from}");
        assert_ne!(signatures(from, &other), plain, "{from} -> {to}");
    }
}

#[test]
fn body_alone_is_replaced_and_lines_stay() {
    let signature = signatures("plain", PLAIN).remove(0).leak();
    let known = [LibraryText { signature, version: "1", module: "m" }];
    let (replaced, found) = replace(PLAIN, SourceKind::CommonJs, &known).expect("it is known");
    assert_eq!(found, known);
    assert_eq!(replaced.lines().count(), PLAIN.lines().count());
    assert!(replaced.contains("value.charCodeAt(i) & 255"), "the rest of the class stays: {replaced}");
    assert!(
        replaced.contains(
            "Parcel.prototype.body = function () {var f=new __onrushFormData0,l=this.rows,i=0;f.boundary=this.edge;\
             for(;i<l.length;i++)f.append(l[i].title,l[i].load);return f.body()}\n"
        ),
        "{replaced}"
    );
    let private = variants().into_iter().find(|(name, _)| *name == "private").expect("it is there").1;
    let (replaced, _) = replace(&private, SourceKind::EsModule, &known).expect("it is known");
    assert!(replaced.contains("l=this.#rows,"), "{replaced}");
}
