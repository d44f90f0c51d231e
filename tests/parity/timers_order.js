// parity: console
// In which order timers, promises and the function's end come.
import { setTimeout as later } from "k6/timers";

export const options = { iterations: 1 };

export default async function () {
  setTimeout(() => console.log("timeout 20"), 20);
  later(() => console.log("timeout 0"), 0);
  Promise.resolve().then(() => console.log("promise"));
  const interval = setInterval(() => {
    console.log("interval");
    clearInterval(interval);
  }, 5);
  const cleared = setTimeout(() => console.log("never"), 1);
  clearTimeout(cleared);
  setTimeout((a, b) => console.log("arguments", a, b), 30, 1, "two");
  console.log("sync", typeof cleared);
  await new Promise((resolve) => setTimeout(resolve, 10));
  console.log("awaited");
}
