// A negative number of iterations.
export const options = { iterations: -3 };

export default function () {}
