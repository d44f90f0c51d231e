// parity: no-wrapper
// Exit code 107.
export default function () {
  const = 1;
}
