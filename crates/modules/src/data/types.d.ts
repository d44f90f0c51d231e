/**
 * Test data that all virtual users share.
 */

/**
 * A read-only array that the process keeps once, for all virtual users.
 *
 * The first virtual user that constructs it calls `make`; the others, and later constructions of the same name, get
 * the same data. Elements are kept as JSON: each access makes a new frozen value, `Date` becomes text, functions are
 * lost. It behaves as an `Array` (`Array.isArray`, spreading, `for…of`, the reading methods of `Array.prototype`);
 * every change throws. Construct it in init code.
 *
 * An element that is an `ArrayBuffer` or a typed array keeps its type. Its bytes exist once for the process, and each access
 * gives a new read-only view: assigning to an element does nothing, methods that write throw a TypeError.
 * `new Uint8Array(buffer).slice()` makes a copy that you can change. A request sends it without a copy. k6 makes empty objects,
 * or objects of numbers, of such elements.
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
