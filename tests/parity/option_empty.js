// Options without anything.
export const options = {};

export default function () {}
