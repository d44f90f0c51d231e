/**
 * Writes, reads and removes files, with the functions of the extension xk6-file.
 *
 * Relative paths start at the working directory of the command. Each function returns when the file is done, in any
 * part of a test, init code included. It throws a `GoError` that names the function, the path and the reason.
 *
 * All users write to the same files. What several users append does not mix; between `readFile` and `writeString` of
 * one user another may write. Put `__VU` into the path where each user needs a file of its own.
 *
 * ```js
 * import file from "k6/x/file";
 *
 * export default function () {
 *   file.appendString("tokens.csv", `${__VU},${__ITER}\n`);
 * }
 * ```
 */

/**
 * Writes a text as UTF-8 in the place of what the file holds; makes the file.
 *
 * @throws GoError `writeString(): cannot write out/a.txt: No such file or directory (os error 2)`
 */
export function writeString(path: string, text: string): void;

/** Writes a text behind what the file holds; makes the file. */
export function appendString(path: string, text: string): void;

/** Writes bytes in the place of what the file holds; makes the file. Numbers are from 0 to 255. */
export function writeBytes(path: string, bytes: number[] | ArrayBuffer | ArrayBufferView): void;

/** The text of a file. Bytes that are no UTF-8 come as U+FFFD. It must fit into the user's memory. */
export function readFile(path: string): string;

/** Leaves the file empty; throws where there is none. */
export function clearFile(path: string): void;

/** Gives a file another path; a file that is there already is replaced. */
export function renameFile(path: string, newPath: string): void;

/** Removes a file; throws where there is none. */
export function deleteFile(path: string): void;

/**
 * Removes rows of a text file, by number.
 *
 * @param first the first row to go; rows count from 1
 * @param last the last row to go, at least `first`; it may lie behind the end
 */
export function removeRowsBetweenValues(path: string, first: number, last: number): void;

/** Makes a folder and those above it; one that is there already is fine. */
export function createDirectory(path: string): void;

/** Removes a folder and all in it; throws where there is none, and for `/`, `.` and `..`. */
export function deleteDirectory(path: string): void;

declare const file: {
  writeString: typeof writeString;
  appendString: typeof appendString;
  writeBytes: typeof writeBytes;
  readFile: typeof readFile;
  clearFile: typeof clearFile;
  renameFile: typeof renameFile;
  deleteFile: typeof deleteFile;
  removeRowsBetweenValues: typeof removeRowsBetweenValues;
  createDirectory: typeof createDirectory;
  deleteDirectory: typeof deleteDirectory;
};
export default file;
