// parity: console
// The text of a function.
export default function () {
  console.log(String(() => 1));
}
