// Stages whose target is a text.
export const options = { stages: [{ duration: "1s", target: "two" }] };

export default function () {}
