// An option of a wrong type.
export const options = { vus: "many" };

export default function () {}
