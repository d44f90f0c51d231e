// An async iteration that throws.
export const options = { iterations: 2 };

export default async function () {
  await Promise.reject(new RangeError("awaited"));
}
