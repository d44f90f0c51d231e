/**
 * Forms with files, as k6's FormData library makes them (`https://jslib.k6.io/formdata/0.0.2/index.js`, and 0.0.1, which
 * takes no text).
 *
 * Imports of these addresses get this module: Onrush fetches nothing and joins a body at memory speed. Copies of the library in
 * scripts are replaced by it, see docs/guides/uploading.md. Scripts run unchanged.
 *
 * Differences: quotes and line breaks in names cannot break out of the part's header. Text with characters beyond U+00FF, which
 * the library corrupts, is sent as UTF-8. Numbers, booleans and bytes, of which the library sends nothing, are sent. Values
 * without bytes throw when they are added. `set`, `has` and `delete` are added. New scripts take FormData from `onrush/http`,
 * whose text is always UTF-8.
 */

/** A form; works with and without `new`. */
export class FormData {
  constructor();

  /** Between the parts; for the Content-Type header. May be replaced: 1 to 70 letters, digits or any of `' + _ - .` */
  boundary: string;

  /**
   * Adds a part; names may repeat. Text is sent as one byte a character if all are up to U+00FF, else as UTF-8. Its type is
   * `text/plain`. The bytes of a buffer are read when the form is sent, or when `body` is called.
   *
   * @param filename names the file of an ArrayBuffer or a view. With other values it is ignored, as by the library.
   * @throws TypeError when the value has no bytes.
   */
  append(name: string, value: FormValue, filename?: string): void;

  /** Replaces all parts of this name by one. */
  set(name: string, value: FormValue, filename?: string): void;

  /** Whether there is a part of this name. */
  has(name: string): boolean;

  /** Removes the parts of this name. */
  delete(name: string): void;

  /**
   * The whole body in one buffer. Set the header yourself:
   * `{ headers: { 'Content-Type': 'multipart/form-data; boundary=' + form.boundary } }`.
   * Passing the form itself as the body costs no copy and sets the header.
   */
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

declare const library: { FormData: typeof FormData };
export default library;
