// base64 in all variants, both directions, and what is refused. Runs under k6 as well.
import { check } from "k6";
import encoding, { b64decode, b64encode } from "k6/encoding";
import { messageOf } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

const bytes = (buffer) => Array.from(new Uint8Array(buffer)).join();

export default function () {
  const table = { std: "+/8BAA==", rawstd: "+/8BAA", url: "-_8BAA==", rawurl: "-_8BAA" };
  const input = new Uint8Array([251, 255, 1, 0]);
  for (const variant in table) {
    check(variant, {
      "encodes a view": () => b64encode(input, variant) === table[variant],
      "encodes a buffer": () => b64encode(input.buffer, variant) === table[variant],
      "decodes to a buffer": () => b64decode(table[variant], variant) instanceof ArrayBuffer,
      "decodes what it encodes": () => bytes(b64decode(table[variant], variant)) === "251,255,1,0",
    });
  }
  check(null, {
    "is the default export": () => encoding.b64encode("a") === b64encode("a") && typeof encoding.b64decode === "function",
    "a part of a buffer is that part": () => b64encode(input.subarray(2)) === "AQA=",
    "a string is its UTF-8": () => b64encode("é€😀") === "w6nigqzwn5iA",
    "a lone surrogate is replaced": () => b64encode("\ud800x") === "77+9eA==",
    "text comes back": () => b64decode("w6nigqzwn5iA", "std", "s") === "é€😀",
    "other formats are bytes": () => b64decode("YQ==", "std", "x") instanceof ArrayBuffer,
    "an unknown variant is std": () => b64encode("a?>>b~", "none") === "YT8+PmJ+",
    "nothing is nothing": () => b64decode("").byteLength === 0 && b64decode(undefined).byteLength === 0,
    "line breaks are skipped": () => b64decode("YW\r\nJj\n", "std", "s") === "abc",
    "long input": () => b64decode(b64encode("x".repeat(100001)), "std", "s").length === 100001,
    "other values are refused": () =>
      [5, {}, [1], null, undefined].every((value) => messageOf(() => b64encode(value)).includes("invalid type")),
    "an error tells where": () => messageOf(() => b64decode("YT8-PmJ-")).includes("input byte 3"),
    "the other alphabet is refused": () => messageOf(() => b64decode("+/8=", "url")).includes("input byte 0"),
    "padding is required": () => messageOf(() => b64decode("YQ")) !== "",
    "padding is refused": () => messageOf(() => b64decode("YQ==", "rawstd")) !== "",
  });
}
