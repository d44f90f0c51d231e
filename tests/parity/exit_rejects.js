// Promises that reject without anybody who handles it.
export const options = { iterations: 2 };

export default async function () {
  Promise.reject(new Error("left alone"));
  await Promise.resolve();
}
