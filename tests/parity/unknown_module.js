// parity: no-wrapper
// Exit code 107.
import "k6/does/not/exist";
export default function () {}
