// parity: no-wrapper
// Exit code 107.
throw new Error("init");
export default function () {}
