// parity: command inspect
// parity: stdout
// What inspect prints without options.
export default function () {}
