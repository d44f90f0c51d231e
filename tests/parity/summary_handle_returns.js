// parity: no-wrapper
// parity: log
// What handleSummary may give back, and what is refused.
export const options = { iterations: 1 };

export default function () {}

export function handleSummary(data) {
  return {
    [__ENV.SUMMARY_FILE]: JSON.stringify(data),
    [`${__ENV.FILES}/bytes`]: new Uint8Array([1, 2]).buffer,
    "/not/there/file": "text",
    [`${__ENV.FILES}/number`]: 5,
  };
}
