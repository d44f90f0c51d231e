// parity: console
// Timers of init code.
if (__VU === 0) {
  try {
    setTimeout(() => console.log("init timer"), 1);
    console.log("set");
  } catch (error) {
    console.log(error.name, error.message);
  }
}

export default function () {}
