// parity: console
// What timers refuse.
export const options = { iterations: 1 };

export default function () {
  for (const args of [[], [5], ["text"], [() => console.log("no time")], [() => console.log("negative"), -5], [() => console.log("text"), "5"], [null, 5]]) {
    try {
      console.log(typeof setTimeout(...args));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
  console.log(clearTimeout(99), clearInterval(undefined), clearTimeout("x"));
}
