/**
 * Test data that all virtual users read and that exists once.
 */

/**
 * A read-only array, kept once for the whole process however many virtual users there are.
 *
 * The first virtual user that constructs it calls `make`; the others, and later constructions of the same name, find
 * what it returned. Elements are kept as JSON: each access makes a new frozen value, `Date` becomes text, functions are
 * lost. An array passes for an `Array` (`Array.isArray`, spreading, `for…of`, the reading methods of `Array.prototype`);
 * every change throws. Constructing is possible in init code only.
 *
 * @example
 * const users = new SharedArray("users", () => JSON.parse(open("./users.json")));
 */
export const SharedArray: {
  /**
   * @param name names the data in the process; not empty.
   * @param make returns the array; not `async`.
   * @throws outside init code, or when `make` returns anything but an array.
   */
  new <T>(name: string, make: () => T[]): ReadonlyArray<Readonly<T>>;
};

declare const data: { SharedArray: typeof SharedArray };
export default data;
