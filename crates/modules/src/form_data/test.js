// FormData of k6's library: bodies byte for byte, and what is refused. Runs under k6 as well, with the library itself, but for
// what the library has not.
// parity: skip k6 fetches the library from the network
import { check } from "k6";
import { FormData } from "https://jslib.k6.io/formdata/0.0.2/index.js";
import { FormData as Older } from "https://jslib.k6.io/formdata/0.0.1/index.js";
import { thrown } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

/** The body as a string of bytes, its boundary replaced by B. */
function text(form) {
  let out = "";
  for (const byte of new Uint8Array(form.body())) out += String.fromCharCode(byte);
  return out.split(form.boundary).join("B");
}

function one(...args) {
  const form = new FormData();
  form.append(...args);
  return text(form);
}

function part(head, content) {
  return `--B\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n--B--\r\n`;
}

const bytes = new Uint8Array([0, 255, 13, 10]);
const onrush = typeof new FormData().has === "function";

export default function () {
  check(null, {
    "no parts": () => text(new FormData()) === "--B--\r\n",
    "text": () => one("a", "v") === part('name="a"\r\nContent-Type: text/plain', "v"),
    "nothing": () => one("a", "") === part('name="a"\r\nContent-Type: text/plain', ""),
    "a byte a character": () => one("a", "\u00e9") === part('name="a"\r\nContent-Type: text/plain', "\u00e9"),
    "a file of bytes": () =>
      one("f", { data: bytes.buffer, filename: "x.bin", content_type: "a/b" }) ===
        part('name="f"; filename="x.bin"\r\nContent-Type: a/b', "\0\xff\r\n"),
    "a file of text": () =>
      one("f", { data: "abc", filename: 'q".txt', content_type: "" }) ===
        part('name="f"; filename="q%22.txt"\r\nContent-Type: application/octet-stream', "abc"),
    "a view": () =>
      one("f", { data: bytes.subarray(1, 2) }) === part('name="f"\r\nContent-Type: application/octet-stream', "\xff"),
    "a list of bytes": () =>
      one("f", { data: [1, 258] }) === part('name="f"\r\nContent-Type: application/octet-stream', "\x01\x02"),
    "a third argument is no name": () =>
      one("a", "v", "n.txt") === part('name="a"\r\nContent-Type: text/plain', "v") &&
      one("f", { data: "abc", filename: "own" }, "n.txt").includes('filename="own"'),
    "version 0.0.1 takes files alone": () => {
      const form = new Older();
      form.append("a", "1");
      form.append("f", { data: "abc", filename: "x" });
      return text(form).includes('name="a"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--B') && text(form).includes("\r\n\r\nabc\r\n");
    },
    "two parts": () => {
      const form = new FormData();
      form.append("a", "1");
      form.append("a", "2");
      return text(form) === '--B\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain\r\n\r\n1\r\n' +
        '--B\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain\r\n\r\n2\r\n--B--\r\n';
    },
    "an ArrayBuffer": () => {
      const form = new FormData();
      const body = form.body();
      return body instanceof ArrayBuffer && body.byteLength === form.boundary.length + 6 && form.body() !== body;
    },
    "boundaries differ": () => new FormData().boundary !== new FormData().boundary,
    "the boundary may be replaced": () => {
      const form = new FormData();
      form.boundary = "mine";
      return String.fromCharCode(...new Uint8Array(form.body())) === "--mine--\r\n";
    },
    "without new": () => FormData() instanceof FormData,
    "needs a name and a value": () => thrown(() => new FormData().append("a")) !== "",
  });
  if (onrush) beyond();
}

function beyond() {
  const refused = (value) => thrown(() => new FormData().append("a", value));
  check(null, {
    "text beyond one byte is UTF-8": () => one("a", "\u20ac").includes("\xe2\x82\xac"),
    "numbers": () => one("a", 1.5) === part('name="a"\r\nContent-Type: text/plain', "1.5"),
    "names cannot break out": () =>
      one('a"\r\nEvil: 1', "v") === part('name="a%22%0D%0AEvil: 1"\r\nContent-Type: text/plain', "v"),
    "types cannot break out": () => refused({ data: "", content_type: "a\r\nEvil: 1" }).includes("found a line break (\\r) at byte 1"),
    "bytes are called blob": () =>
      one("f", bytes) === part('name="f"; filename="blob"\r\nContent-Type: application/octet-stream', "\0\xff\r\n"),
    "a name for bytes": () => one("f", bytes.buffer, "n").includes('filename="n"'),
    "set, has, delete": () => {
      const form = new FormData();
      for (const [name, value] of [["a", "1"], ["b", "2"], ["a", "3"]]) form.append(name, value);
      form.set("a", bytes);
      form.set("c", "4");
      form.delete("b");
      return form.has("a") && !form.has("b") && text(form).split("--B").length === 4 && text(form).includes("\0\xff");
    },
    "buffers are read late": () => {
      const form = new FormData(), late = new Uint8Array(1);
      form.append("f", late);
      late[0] = 65;
      return text(form).includes("\r\n\r\nA\r\n");
    },
    "a subclass": () => {
      class Mine extends FormData { own() { return this.has("a"); } }
      const form = new Mine();
      form.append("a", "1");
      return form.own() && form instanceof Mine && form instanceof FormData;
    },
    "null, undefined and others are refused": () =>
      [null, undefined, {}, () => 1, new Date(0), new Map(), { data: {} }, { data: null }, Symbol("x")].every((value) =>
        refused(value).startsWith('TypeError: FormData.append: the value of field "a" is ')),
    "the message names what is taken": () =>
      refused(new Date(0)).endsWith("is an object of the class Date, expected a string, a number, a boolean, an ArrayBuffer, " +
        "a view of one, a FileStream, a payload, or what http.file makes"),
    "a bad boundary": () => {
      const form = new FormData();
      form.boundary = "a b";
      return thrown(() => form.body()).startsWith('TypeError: FormData: boundary is "a b", expected 1 to 70 letters');
    },
    "a detached buffer": () => {
      const form = new FormData(), buffer = new ArrayBuffer(4);
      form.append("f", buffer);
      buffer.transfer();
      return thrown(() => form.body()).includes('the buffer of field "f" was detached');
    },
    "methods belong to forms": () => thrown(() => FormData.prototype.body.call({})).includes("call it on one"),
    "a missing name is told": () => thrown(() => new FormData().append()).includes("needs a name and a value, found 0"),
  });
}
