// parity: console
// Tags and metadata of users take texts, numbers and booleans; the rest is refused.
import exec from "k6/execution";

export const options = { iterations: 1 };

export default function () {
  for (const value of ["text", 1, 1.5, true, null, undefined, { a: 1 }, [1], () => 1]) {
    for (const target of ["tags", "metadata"]) {
      try {
        exec.vu.metrics[target].own = value;
        console.log(target, exec.vu.metrics[target].own, typeof exec.vu.metrics[target].own);
      } catch (error) {
        console.log(target, error.name, error.message);
      }
    }
  }
  try {
    exec.vu.tags = { bad: { a: 1 } };
  } catch (error) {
    console.log(error.name, error.message);
  }
  try {
    exec.vu.tags.also = [1];
  } catch (error) {
    console.log(error.name, error.message);
  }
  delete exec.vu.tags.own;
  console.log(Object.keys(exec.vu.tags).sort().join(), Object.keys(exec.vu.metrics.metadata).join());
}
