// What one call of a module costs: COUNT of them in one iteration, without a server. Each is compared with what the first gave.

import exec from "k6/execution";
import k6crypto from "k6/crypto";
import { parseHTML } from "k6/html";

export const options = { vus: 1, iterations: 1 };

const count = Number(__ENV.COUNT);
const mebibyte = new Uint8Array(1 << 20).fill(7);

function page() {
  const words = ["lorem", "ipsum", "dolor", "sit", "amet", "elit", "sed", "tempor"];
  const rows = [];
  for (let row = 1; row <= 650; row++) {
    const word = (shift) => words[(row * 7 + shift) % words.length];
    rows.push(`  <tr class="item ${row % 2 ? "odd" : "even"}" data-id="${row}" id="row-${row}">
    <td class="name"><a href="/items/${row}" title="${word(1)} ${word(2)}">${word(3)} <b>${word(4)}</b> &amp; ${word(5)}</a></td>
    <td class="price">${row}.99 &euro;</td><td><input type="checkbox" name="c${row}" value="${row}"> <span>${word(0)} ${word(6)} ${word(2)}</span></td>
  </tr>\n`);
  }
  return `<!DOCTYPE html><html><head><title>Shop</title><script>let a = 1 < 2;</script></head><body><div id=main><table class="items"><tbody>
${rows.join("")}</tbody></table></div></body></html>`;
}

const text = page();
let document;

function find(doc) {
  let sum = 0;
  doc.find("tr.item").each((_, row) => { sum += row.id().length; });
  return sum + doc.find("td.name > a[href]").size() + doc.find("tr").find("span").text().length;
}

const calls = {
  nothing: async () => 1,
  "k6/crypto sha256": async () => k6crypto.sha256(mebibyte.buffer, "hex"),
  "subtle.digest SHA-256": async () => new Uint8Array(await crypto.subtle.digest("SHA-256", mebibyte))[0],
  "subtle.digest SHA-512": async () => new Uint8Array(await crypto.subtle.digest("SHA-512", mebibyte))[0],
  "subtle.encrypt AES-GCM": async () => {
    const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, key, mebibyte);
    return sealed.byteLength;
  },
  parseHTML: async () => parseHTML(text).find("title").text(),
  "find and each": async () => find((document ??= parseHTML(text))),
  "parseHTML, find and each": async () => find(parseHTML(text)),
};
let key;

export default async function () {
  key = await crypto.subtle.importKey("raw", new Uint8Array(32), "AES-GCM", false, ["encrypt"]);
  const call = calls[__ENV.WHAT];
  const first = await call();
  for (let done = 1; done < count; done++) {
    if ((await call()) !== first) exec.test.abort("another result than the first");
  }
}
