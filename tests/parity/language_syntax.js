// parity: console
// Syntax of today.
class Account {
  static #count = 0;
  #secret = 5;
  static {
    this.ready = true;
  }
  static has(o) {
    return #secret in o;
  }
  get secret() {
    return this.#secret;
  }
}

export default async function () {
  const { a, ...rest } = { a: 1, b: 2, c: 3 };
  let n = null;
  n ??= 7;
  console.log(a, JSON.stringify(rest), n, undefined?.x, (0 || null) ?? "d", 1_000, 2n ** 64n);
  console.log(Account.ready, Account.has(new Account()), new Account().secret);
  console.log([3, 1, 2].toSorted().join(), [1, 2, 3].at(-1), [1, 2, 3].findLast((x) => x < 3), "a-b-c".replaceAll("-", "+"));
  console.log("2024-01-02".match(/(?<y>\d+)-(?<m>\d+)/).groups.y, /(?<=a)b/.test("ab"), [..."a1b2".matchAll(/\d/g)].length);
  const generated = [...(function* () { yield 1; yield* [2, 3]; })()];
  console.log(generated.join(), Object.fromEntries([["k", 1]]).k, [[1, [2]], 3].flat(2).join());
  label: for (const x of [1, 2]) for (const y of [1, 2]) { if (y === 2) continue label; console.log(x, y); }
  console.log(await Promise.allSettled([1, Promise.reject(2)]).then((r) => r.map((x) => x.status).join()));
}
