// parity: no-counts
// A promise that nobody settles: the iteration ends all the same.
export const options = { iterations: 1 };

export default function () {
  return new Promise(() => {});
}
