// A duration without sense.
export const options = { duration: "10 parsecs" };

export default function () {}
