// parity: args --iterations 3
// A flag replaces the script's stages.
export const options = { stages: [{ duration: "10s", target: 5 }] };

export default function () {}
