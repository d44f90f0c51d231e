// A run tag that is a number.
export const options = { iterations: 1, tags: { number: 1 } };

export default function () {}
