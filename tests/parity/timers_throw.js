// A timer that throws.
export const options = { iterations: 2 };

export default function () {
  setTimeout(() => {
    throw new Error("in a timer");
  }, 1);
  setTimeout(() => {}, 50);
}
