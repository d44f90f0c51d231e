// What setup gives is no JSON.
export function setup() {
  const a = {};
  a.a = a;
  return a;
}

export default function () {}
