// parity: command inspect
// parity: stdout
// What inspect prints.
export const options = { vus: 2, duration: "3s", tags: { a: "b" }, thresholds: { http_reqs: ["count>1"] }, hosts: { "a.test": "127.0.0.1" }, userAgent: "x" };

export default function () {}
