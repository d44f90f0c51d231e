/**
 * HTTP requests as in `k6/http`, and what k6 has not: `FormData`.
 *
 * Everything of `k6/http` is here too and is the same: cookies, callbacks and options are shared.
 */

export * from "k6/http";

/**
 * A multipart form (RFC 7578). As a body it is sent part by part from where the contents lie, with a Content-Type that names
 * its boundary:
 *
 * ```js
 * const form = new FormData();
 * form.append('title', 'A picture');
 * form.append('image', http.file(image, 'image.jpg', 'image/jpeg'));
 * http.post(url, form);
 * ```
 *
 * As in browsers: text is UTF-8, parts that are text have no Content-Type, quotes and line breaks in names are
 * percent-encoded, bytes without a file name are called `blob`. Not as in browsers: it cannot be read or iterated.
 */
export class FormData {
  constructor();

  /** Between the parts. May be replaced: 1 to 70 letters, digits or any of `' + _ - .` */
  boundary: string;

  /**
   * Adds a part; names may repeat. The bytes of a buffer are read when the form is sent, or when `body` is called.
   *
   * @param filename replaces the name of a file, or makes the part one.
   * @throws TypeError when the value has no bytes: null, undefined, functions, objects without `data`.
   */
  append(name: string, value: FormValue, filename?: string): void;

  /** Puts a part in the place of all parts of its name. */
  set(name: string, value: FormValue, filename?: string): void;

  /** Whether there is a part of this name. */
  has(name: string): boolean;

  /** Removes the parts of this name. */
  delete(name: string): void;

  /** The whole body in one buffer, for whom the form itself is not enough; it copies the contents. */
  body(): ArrayBuffer;
}

/** What a part can hold: text, bytes, or what `http.file` makes (any object of that shape). */
export type FormValue =
  | string
  | number
  | boolean
  | bigint
  | ArrayBuffer
  | ArrayBufferView
  | { data: string | ArrayBuffer | ArrayBufferView | number[]; filename?: string; content_type?: string };
