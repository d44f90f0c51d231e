// parity: console
// Functions of scenarios may be async.
export const options = { scenarios: { a: { executor: "shared-iterations", exec: "named", iterations: 2 } } };

export async function named() {
  await Promise.resolve();
  console.log("after a promise", __ITER);
}
