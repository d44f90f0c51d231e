// parity: console
// Setup and teardown may be async.
export async function setup() {
  await Promise.resolve();
  return { n: 5 };
}

export default async function (data) {
  console.log(data.n);
}

export async function teardown(data) {
  await null;
  console.log("teardown", data.n);
}
