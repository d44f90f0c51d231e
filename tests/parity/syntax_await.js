// parity: no-wrapper
// await in a function that is not async.
export default function () {
  await Promise.resolve();
}
