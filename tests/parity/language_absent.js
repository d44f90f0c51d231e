// parity: console
// Globals that scripts look for.
export default function () {
  for (const name of ["URL", "URLSearchParams", "fetch", "Headers", "Request", "Response", "Blob", "File", "FormData", "AbortController", "Event", "structuredClone", "queueMicrotask", "btoa", "atob", "performance", "WebAssembly", "Buffer", "process", "setImmediate", "ReadableStream", "WebSocket", "window", "self", "global", "document", "require", "module", "exports", "GoError", "CryptoKey", "escape", "unescape", "open"]) {
    let kind;
    try {
      kind = typeof globalThis[name];
    } catch (error) {
      kind = error.name;
    }
    console.log(name, kind);
  }
}
