// parity: console
// Causes and aggregates.
export default async function () {
  const error = new Error("outer", { cause: new Error("inner") });
  console.log(error.cause.message, Object.keys(error).join());
  try {
    await Promise.any([Promise.reject(new Error("one")), Promise.reject(new Error("two"))]);
  } catch (all) {
    console.log(all.constructor.name, all.errors.map((e) => e.message).join());
  }
}
