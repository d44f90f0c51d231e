/**
 * `URL` and `URLSearchParams` of the URL Standard (`https://jslib.k6.io/url/1.0.0/index.js`). Built in: nothing is
 * fetched. Scripts have no such globals, as in k6.
 *
 * Differences: k6's file keeps hosts, opaque paths and setters that the standard refuses or writes in another way; this follows
 * the standard. `size`, `canParse` and `parse`, and values in `has` and `delete`, are added.
 *
 * ```js
 * import { URL } from 'https://jslib.k6.io/url/1.0.0/index.js';
 *
 * const url = new URL('/search', 'https://test.k6.io');
 * url.searchParams.append('q', 'a b');
 * export default () => console.log(url.toString());
 * ```
 */

/** An address and its parts. Setters pass over what cannot be. */
export class URL {
  /** @throws TypeError when it is no address, or a relative one without a base. */
  constructor(url: string | URL, base?: string | URL);
  /** Whether the constructor would take it. */
  static canParse(url: string | URL, base?: string | URL): boolean;
  /** The address, or null where the constructor would throw. */
  static parse(url: string | URL, base?: string | URL): URL | null;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  /** The query; changing it changes the address. */
  readonly searchParams: URLSearchParams;
  toString(): string;
  toJSON(): string;
}

/** Names and values of a query. */
export class URLSearchParams {
  constructor(init?: string | URLSearchParams | Iterable<[string, string]> | Record<string, string>);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(callback: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}
