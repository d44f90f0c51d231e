// Setup data goes through JSON: each user has a copy of its own.
import { check } from "k6";

export const options = { vus: 2, iterations: 4 };

export function setup() {
  return { list: [1, "a", null, true], nested: { a: { b: "ü" } }, when: new Date(0), number: 1.5 };
}

export default function (data) {
  check(data, {
    list: (d) => JSON.stringify(d.list) === '[1,"a",null,true]',
    nested: (d) => d.nested.a.b === "ü",
    number: (d) => d.number === 1.5,
    date: (d) => typeof d.when === "string",
  });
}

export function teardown(data) {
  check(data, { "teardown has it": (d) => d.nested.a.b === "ü" && d.list.length === 4 });
}
