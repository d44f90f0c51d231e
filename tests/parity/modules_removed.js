// parity: no-wrapper
// A module that k6 removed.
import "k6/experimental/redis";

export default function () {}
