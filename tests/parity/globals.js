// What exists and what does not: libraries look for both.
import { check } from "k6";

const absent = [
  "URL", "URLSearchParams", "fetch", "Headers", "Request", "Response", "Blob", "File", "FormData", "AbortController",
  "Event", "EventTarget", "structuredClone", "queueMicrotask", "btoa", "atob", "performance", "Intl", "WebAssembly",
  "SharedArrayBuffer", "Atomics", "WeakRef", "FinalizationRegistry", "Buffer", "process", "setImmediate",
  "ReadableStream", "WebSocket", "DOMException", "window", "self", "os", "std", "print", "scriptArgs",
];
const present = [
  "open", "require", "console", "crypto", "setTimeout", "clearTimeout", "setInterval", "clearInterval", "TextEncoder",
  "TextDecoder", "escape", "unescape", "globalThis", "Map", "Set", "WeakMap", "WeakSet", "Promise", "Proxy", "Reflect",
  "Symbol", "BigInt", "ArrayBuffer", "DataView", "Uint8Array", "Float64Array", "JSON", "Math", "Date", "RegExp",
];

export default function () {
  for (const name of absent) check(name, { [`no ${name}`]: (n) => typeof globalThis[n] === "undefined" });
  for (const name of present) check(name, { [`has ${name}`]: (n) => typeof globalThis[n] !== "undefined" });
  check(null, {
    "__VU": () => __VU === 1,
    "__ITER": () => __ITER === 0,
    "__ENV": () => typeof __ENV.TARGET === "string" && typeof __ENV.SUMMARY_FILE === "string",
    "random values": () => crypto.getRandomValues(new Uint8Array(4)).length === 4,
    "uuid": () => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()),
    "text codecs": () => new TextDecoder().decode(new TextEncoder().encode("é☃")) === "é☃",
  });
}
