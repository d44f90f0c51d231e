// A BigInt of setup.
export function setup() {
  return { n: 5n };
}

export default function () {}
