// Importing while the test runs.
export const options = { iterations: 1 };

export default async function () {
  await import("./lib/counted.js");
}
