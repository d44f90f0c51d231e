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
 * An element that is an `ArrayBuffer` or a typed array stays one: its bytes exist once for the process, and each access gives
 * a new view of them that cannot be changed: assigning to an element does nothing, methods that write throw a TypeError.
 * `new Uint8Array(buffer).slice()` makes a copy that can be changed. As a body or in a form it is sent from there. k6 makes empty objects, or objects of numbers, of such elements.
 *
 * @example
 * const users = new SharedArray("users", () => JSON.parse(open("./users.json")));
 *
 * @example
 * const images = new SharedArray("images", () => [open("./a.jpg", "b"), open("./b.jpg", "b")]);
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
