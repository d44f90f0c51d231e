// parity: command archive
// parity: args -e OWN=1 --exclude-env-vars
// An archive without variables.
export default function () {}
