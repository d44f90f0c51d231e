// What counts as true in a check, what check returns, and a check that throws.
import { check } from "k6";

export default function () {
  const results = [true, 1, "a", {}, [], () => true, false, 0, "", null, undefined, NaN, () => 0].map((value, index) =>
    check(5, { [`value ${index}`]: value }),
  );
  check(results, { returned: (all) => all.join() === "true,true,true,true,true,true,false,false,false,false,false,false,false" });
  check(7, { "is given the value": (value) => value === 7 });
  try {
    check(null, { before: true, throws: () => { throw new Error("why"); }, after: true });
  } catch (error) {
    check(error, { "passes the exception on": (e) => e.message === "why" });
  }
}
