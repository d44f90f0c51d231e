// An async default function, promises left alone, timers, a rejection nobody handles.
import { check } from "k6";

export const options = { iterations: 3 };

export default async function () {
  const value = await Promise.resolve(5);
  check(value, { "awaited": (v) => v === 5 });
  Promise.resolve().then(() => check(1, { "left alone": true }));
  setTimeout(() => check(1, { "timer": true }), 5);
  if (__ITER === 1) Promise.reject(new Error("nobody handles this"));
  if (__ITER === 2) throw new Error("rejected");
}
