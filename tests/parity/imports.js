// Imports of all forms, and files opened relative to the module.
import { check } from "k6";
import * as everything from "./lib/new.js";
import greet, { alias, value as renamed } from "./lib/new.js";

const text = open("./lib/data.txt");
const bytes = open("./lib/data.txt", "b");

export default function () {
  check(null, {
    "default": () => greet("you") === "hello you",
    "names": () => alias === "new" && renamed === "new",
    "namespace": () => everything.value === "new" && everything.default === greet,
    "import.meta": () => import.meta.resolve("./lib/new.js").endsWith("/lib/new.js"),
    "a file as text": () => text === "text of the file: é\n",
    "a file as bytes": () => bytes instanceof ArrayBuffer && bytes.byteLength === 21 && new Uint8Array(bytes)[0] === 116,
    "no open in an iteration": () => { try { open("./lib/data.txt"); } catch (error) { return true; } },
  });
}
