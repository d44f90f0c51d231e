// parity: no-wrapper
// A file that is not there.
import "./lib/nothing_here.js";

export default function () {}
