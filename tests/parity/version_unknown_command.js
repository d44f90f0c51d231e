// parity: command unknown-command
// A command that nobody knows.
export default function () {}
