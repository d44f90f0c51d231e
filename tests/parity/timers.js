// parity: console
// Order of timers, microtasks and the code after them.
export default function () {
  setTimeout(() => console.log("timer 2"), 20);
  setTimeout(() => console.log("timer 1"), 5);
  const cleared = setTimeout(() => console.log("never"), 1);
  clearTimeout(cleared);
  Promise.resolve().then(() => console.log("microtask"));
  let ticks = 0;
  const interval = setInterval(() => {
    console.log(`tick ${++ticks}`);
    if (ticks === 3) clearInterval(interval);
  }, 30);
  console.log("code");
}
