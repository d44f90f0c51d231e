// Finding nodes, their texts and values, and what forms send. Runs under k6 as well.
import { check } from "k6";
import html, { parseHTML } from "k6/html";
import { thrown } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

const page = `<!DOCTYPE html><html lang="en"><head><title>T</title></head><body>
<h1 id="a" class="x y">Hi <b>there</b><!--c--></h1>
<ul><li data-num-a="1" data-j='{"a":2}' data-b="true" data-s="q" data-z="007">one</li><li>two</li><li class="z">three</li></ul>
<form id="f" method="post" action="/f" target="_t"><input name="n" value="v&amp;1"><label for="i">L</label>
<input id="i" type="checkbox" name="c" checked><select name="s"><option value="1">A<option selected value="2">B</select>
<select multiple name="m"><option selected value="1">A<option selected>B</select><textarea name="t">txt</textarea>
<button name="b" value="bv">go</button><input type="submit" name="go"></form>
<a href="https://u:p@h.com:81/p/q?q=1#f" rel="a b">l</a>
<table><caption>c</caption><tr><td>1<td>2<tr><th colspan="2">h</table><ol start="3"><li value="7">q</ol>
<video src="v" controls></video><progress value="3" max="10"></progress></body></html>`;

const doc = parseHTML(page);
const items = doc.find("ul li");
const names = (selection) => selection.map((_, one) => one.get(0).nodeName()).join();
const texts = (selection) => selection.map((_, one) => one.text()).join();
const count = (selector) => doc.find(selector).size();

export default function () {
  check(null, {
    "module and selection": () => html.parseHTML === parseHTML && doc.size() === 1 && doc.url === "",
    "text and html": () => items.text() === "onetwothree" && doc.find("h1").html() === "Hi <b>there</b><!--c-->",
    "escapes": () => parseHTML(`<p t='"'>'&lt;<br>`).find("body").html() === `<p t="&#34;">&#39;&lt;<br/></p>`,
    "every text is a document": () =>
      parseHTML("<td>x").html() === "<html><head></head><body>x</body></html>" && parseHTML(null).find("body").html() === "",
    "attributes": () =>
      items.attr("class") === undefined && items.attr("class", "d") === "d" && items.eq(2).attr("class") === "z",
    "data": () => {
      const { numA, j, b, s, z } = items.data();
      return numA === 1 && j.a === 2 && b === true && s === "q" && z === "007" && items.data("num-a") === 1;
    },
    "places": () =>
      [items.eq(-1), items.last(), items.slice(-1), items.slice(2)].every((one) => one.text() === "three") &&
      items.first().text() === "one" && items.slice(1, 2).text() === "two" && items.eq(7).size() === 0,
    "callbacks": () => {
      const seen = [];
      const same = items.each((index, element) => seen.push(index + element.textContent()));
      const mapped = items.map((index, one) => index + one.text());
      return seen.join() === "0one,1two,2three" && mapped.join() === seen.join() && same.size() === 3;
    },
    "get": () => items.get(1).textContent() === "two" && items.get().length === 3 && items.get(9) === undefined,
    "toArray": () => items.toArray().map((one) => one.text()).join() === "one,two,three",
    "filter, not, is": () =>
      items.filter(".z").size() === 1 && items.filter((i) => i < 2).size() === 2 && items.not(items.eq(0)).size() === 2 &&
      items.is(".z") && !items.is("b") && items.is((i) => i === 1),
    "has, closest, end": () =>
      names(doc.find("ul,h1").has("b")) === "h1" && doc.find("b").closest("h1").attr("id") === "a" &&
      items.eq(0).end().size() === 3 && doc.end().size() === 0,
    "parents": () =>
      names(doc.find("b").parents()) === "h1,body,html" && names(doc.find("b").parentsUntil("html")) === "h1,body" &&
      names(items.parent()) === "ul",
    "siblings": () =>
      texts(items.siblings()) === "two,three,one" && texts(items.eq(2).prevAll()) === "two,one" &&
      items.next().size() === 2 && items.eq(0).nextUntil(".z").size() === 1 && items.eq(1).prev().text() === "one",
    "children and contents": () => doc.find("ul").children(".z").size() === 1 && doc.find("h1").contents().size() === 3,
    "index": () => items.eq(1).index() === 1 && items.eq(2).index("li") === 2 && items.index(items.eq(1)) === 1,
    "add keeps the order": () => names(items.add("h1")) === "li,li,li,h1" && items.add("ul li").size() === 3,
    "find is in the order of the text": () => names(doc.find("li,h1")) === "h1,li,li,li,li",
    "combinators": () => count("ul > li + li") === 2 && count("li ~ li") === 2 && count("body b") === 1,
    "attribute selectors": () =>
      count("[class~=y]") === 1 && count("a[href^=https]") === 1 && count("a[href$='#f']") === 1 && count("[class=Z i]") === 1,
    "pseudo-classes": () =>
      count("ul li:nth-child(2n+1)") === 2 && count("ul li:not(.z)") === 2 && count('li:contains("tw")') === 1 &&
      count("ul:has(.z)") === 1 && count(":checked") === 4 && count("h1 :only-child") === 1,
    "what is no selector selects nothing": () => ["li[", ":bogus", "li,", "> li"].every((one) => count(one) === 0),
    "a wrong argument": () => [() => doc.find(5), () => items.each()].every((call) => thrown(call).startsWith("GoError: ")),
    "single": () => doc.single("ul li").text() === "one" && items.single("li").size() === 0,
    "values": () => {
      const val = (selector) => doc.find(selector).val();
      return val("input") === "v&1" && val("[name=s]") === "2" && val("[name=m]").join() === "1,B" && val("textarea") === "txt" &&
        val("button") === "bv" && val("#i") === "on" && val("option") === "1";
    },
    "serialize": () => doc.find("form").serialize() === "m=1&m=B&n=v%261&s=2&t=txt",
    "serializeArray": () => doc.find("form").serializeArray().map((one) => one.name).join() === "n,s,m,t",
    "serializeObject": () => {
      const { n, s, t } = doc.find("form").serializeObject();
      return n === "v&1" && s === "2" && t === "txt";
    },
  });
  elements();
}

function elements() {
  const one = (selector) => doc.find(selector).get(0);
  const h1 = one("h1");
  check(null, {
    "names and neighbours": () =>
      h1.nodeName() === "h1" && h1.nodeType() === 1 && h1.parentNode().nodeName() === "body" &&
      h1.childNodes().map((child) => child.nodeName()).join() === "#text,b,#comment" && h1.childElementCount() === 1 &&
      h1.firstChild().nodeValue() === "Hi " && h1.lastChild().nodeType() === 8 && h1.firstElementChild().textContent() === "there",
    "names of attributes": () =>
      h1.id() === "a" && h1.classList().join() === "x,y" && h1.getAttribute("id") === "a" && h1.hasAttribute("class") &&
      h1.attributes().id.value === "a" && one("html").lang() === "en",
    "questions": () =>
      h1.matches(".x") && h1.contains(one("b")) && !one("b").contains(h1) && h1.isSameNode(one("h1")) &&
      h1.querySelector("b").textContent() === "there" && one("ul").querySelectorAll("li").length === 3 &&
      one("body").getElementsByClassName("z").length === 1 && h1.selection().size() === 1,
    "links": () => {
      const a = one("a");
      return [a.protocol(), a.username(), a.password(), a.host(), a.hostname(), a.port(), a.pathname(), a.search(), a.hash()]
        .join(" ") === "https u p h.com:81 h.com 81 /p/q ?q=1 #f" && a.origin() === "https://h.com:81" &&
        a.relList().join() === "a,b";
    },
    "forms": () => {
      const form = one("form");
      return form.method() === "post" && form.action() === "/f" && form.enctype() === "application/x-www-form-urlencoded" &&
        form.length() === 7 && form.autocomplete() === "on";
    },
    "fields": () => {
      const input = one("#i");
      return input.type() === "checkbox" && input.checked() && input.form().id() === "f" && input.maxLength() === -1 &&
        input.labels()[0].textContent() === "L" && one("label").control().id() === "i" && input.formTarget() === "_t";
    },
    "options": () => {
      const select = one("[name=s]");
      return select.selectedIndex() === 1 && select.options().length === 2 && select.value() === "2" &&
        select.type() === "select" && one("option").index() === 0 && one("option").text() === "A";
    },
    "tables": () =>
      one("table").rows().length === 2 && one("table").caption().textContent() === "c" && one("tr").cells().length === 2 &&
      one("th").colSpan() === 2 && one("th").cellIndex() === 0 && doc.find("tr").get(1).rowIndex() === 1,
    "others": () =>
      one("ol").start() === 3 && one("ol li").value() === 7 && one("video").controls() && one("video").preload() === "auto" &&
      one("progress").position() === 0.3 && one("title").text() === "T",
  });
}
