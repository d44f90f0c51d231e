/**
 * Files of any size as bodies of requests and as parts of forms, read while they are sent.
 *
 * ```js
 * import http from 'k6/http';
 * import { open } from 'onrush/fs';
 *
 * const video = open('./video.mp4');
 *
 * export default function () {
 *   http.put('http://localhost:8080/upload', video);
 *   const headers = { 'Content-Range': `bytes 0-999/${video.size}` };
 *   http.put('http://localhost:8080/upload', video.slice(0, 1000), { headers });
 * }
 * ```
 *
 * The script never sees the bytes. A virtual user that sends a file over TLS holds at most 64 KiB of it in memory, and none on
 * plain connections. To read or change bytes, use the global `open(path, 'b')`.
 */

/**
 * A file, or a range of one. It can be the body of any request, and a part of a form (`http.file(stream)`,
 * `form.append('name', stream)`), which then has the file's name. It is sent with a Content-Length; redirects that keep the
 * body send it again. `response.request.body` is empty text for it.
 *
 * When the file has become shorter since it was opened, the request fails: `response.error` has the length found and expected,
 * and the connection is closed. When the file was removed or replaced, requests go on sending the file that was opened.
 */
export class FileStream {
  /**
   * Opens a file for reading.
   *
   * @param path relative paths start at the folder of the module that calls.
   * @throws when the file does not exist, cannot be read, or is not a regular file.
   */
  constructor(path: string);

  /** Absolute path. */
  readonly path: string;

  /** Length in bytes when it was opened, or of the range. */
  readonly size: number;

  /**
   * The bytes from `start` (0) up to `end` (the end), not included.
   *
   * @throws RangeError unless both are whole numbers and `0 <= start <= end <= size`.
   */
  slice(start?: number, end?: number): FileStream;
}

/**
 * Opens a file: `new FileStream(path)` as a function. In init code a file is opened once for all virtual users; elsewhere it
 * is opened each time, and closed when nothing refers to it.
 */
export function open(path: string): FileStream;

declare const fs: { open: typeof open; FileStream: typeof FileStream };
export default fs;
