/**
 * Bodies of any size that are made while they are sent: they take no memory and no disk.
 *
 * ```js
 * import http from 'k6/http';
 * import { random } from 'onrush/payload';
 *
 * const upload = random(10e9, 1);
 * export default () => http.put('http://localhost:8080/upload', upload);
 * ```
 */

/**
 * Bytes that exist only on their way to the server. Can be the body of any request, and a part of a form
 * (`http.file(payload, 'name')`, `form.append('name', payload)`). Sent with a Content-Length.
 */
export interface Payload {
  /** Length in bytes. */
  readonly size: number;

  /**
   * The bytes from `start` (0) up to `end` (the end), not included.
   *
   * @throws RangeError unless both are whole numbers and `0 <= start <= end <= size`.
   */
  slice(start?: number, end?: number): Payload;
}

/**
 * `total` bytes of a pattern again and again, the last time cut off.
 *
 * @param pattern a string (its UTF-8) or bytes, at least one; copied once.
 * @throws TypeError when the pattern has no bytes, RangeError when it is empty or `total` is no whole number.
 */
export function repeat(pattern: string | ArrayBuffer | ArrayBufferView, total: number): Payload;

/**
 * `total` pseudo-random bytes: SplitMix64 from `seed`, its 64-bit outputs in little-endian order. The same for the same
 * seed, here and in later versions; no secret.
 *
 * @param seed a whole number; 0 unless given.
 * @throws RangeError when `total` or `seed` is no whole number from 0 to 2^53 - 1.
 */
export function random(total: number, seed?: number): Payload;

declare const payload: { repeat: typeof repeat; random: typeof random };
export default payload;
