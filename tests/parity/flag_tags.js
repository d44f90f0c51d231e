// parity: args --tag who=flag --tag other=1
// Run tags of flags replace those of the script.
export const options = { iterations: 2, tags: { script: "1", who: "script" } };

export default function () {}
