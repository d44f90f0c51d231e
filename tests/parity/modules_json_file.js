// parity: no-wrapper
// A JSON file is no module.
import data from "./lib/numbers.json";

export default function () {
  console.log(data);
}
