/**
 * Files as bodies of requests and as parts of forms: of any size, read while they are sent.
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
 * The bytes never enter the script: at most 64 KiB of a file are in memory for a virtual user that is sending, and on plain
 * connections none. For bytes that the script itself reads or changes there is the global `open(path, 'b')`.
 */

/**
 * A file, or a range of one. Can be the body of any request, and a part of a form (`http.file(stream)`,
 * `form.append('name', stream)`), which is then named as the file is. Sent with a Content-Length; redirects that keep the
 * body send it again from its start. `response.request.body` is empty text for it.
 *
 * A file that has become shorter than it was when it was opened fails the request that is sending it, with what was found
 * and what was expected in `response.error`, and its connection is closed. One that was removed or replaced meanwhile goes on
 * to be sent as it was, for as long as it stays open.
 */
export class FileStream {
  /**
   * Opens a file for reading.
   *
   * @param path relative paths start at the folder of the module that calls.
   * @throws when there is no such file, it may not be read, or is no regular file.
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
 * is opened anew each time, and closed when nothing refers to it any more.
 */
export function open(path: string): FileStream;

declare const fs: { open: typeof open; FileStream: typeof FileStream };
export default fs;
