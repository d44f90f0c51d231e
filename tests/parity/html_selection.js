// parity: console
// Selections of a document.
import { parseHTML } from "k6/html";

const page = `<html><head><title>T</title></head><body><ul id="l"><li class="a" data-n="1">one</li><li class="a b" data-n='{"x":1}'>two</li><li>three</li></ul>
<p>text <b>bold</b> end</p><a href="/x?y=1" id="k">link</a></body></html>`;

export default function () {
  const doc = parseHTML(page);
  console.log(doc.find("li").size(), doc.find("li.a").size(), doc.find("li").eq(1).text(), doc.find("li").first().html(), doc.find("li").last().text());
  console.log(doc.find("#l").children().size(), doc.find("li").get(0).nodeName(), doc.find("a").attr("href"), doc.find("a").attr("missing"), doc.find("a").attr("missing", "default"));
  console.log(JSON.stringify(doc.find("li").eq(1).data("n")), doc.find("li").eq(0).data("n"), JSON.stringify(doc.find("li").map((i, e) => e.text())));
  console.log(doc.find("p").text(), doc.find("p").contents().size(), doc.find("b").parent().html(), doc.find("b").closest("body").size());
  console.log(doc.find("li").not(".a").text(), doc.find("li").filter(".b").text(), doc.find("li").is(".b"), doc.find("li").has("b").size(), doc.find("li.a").next().size());
  console.log(doc.find("title").text(), doc.find("nothing").text() === "", doc.find("nothing").html(), doc.find("nothing").attr("x"));
  doc.find("li").each((index, element) => console.log(index, element.textContent(), element.classList ? element.classList().join() : ""));
  for (const selector of ["li:nth-child(2)", "li[data-n]", "ul > li", "li:not(.a)", "li:first-child", "a[href^='/x']", "li:contains(two)"]) {
    console.log(selector, doc.find(selector).size());
  }
}
