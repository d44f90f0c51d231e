// parity: args --include-system-env-vars=false
// parity: env PARITY_OUTER=seen
// parity: console
// The variables of the environment are not shown when told so.
export default function () {
  console.log(__ENV.PARITY_OUTER, typeof __ENV.TARGET);
}
