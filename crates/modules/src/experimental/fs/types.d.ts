/**
 * Files that are read piece by piece: large test data that no virtual user holds in memory.
 *
 * All functions return promises. They settle in the order of the calls and reject with an error with one of these
 * names: `TypeError`, `NotFoundError`, `InvalidResourceError`, `ForbiddenError`.
 */

/** Where the offset of `seek` begins. */
export const SeekMode: {
  /** The first byte. */
  readonly Start: 0;
  /** The current position. */
  readonly Current: 1;
  /** The last byte, as in k6: `seek(0, SeekMode.End)` goes to the last byte, not behind it. */
  readonly End: 2;
};

/** The result of `stat`. */
export interface FileInfo {
  /** Name without folders. */
  name: string;
  /** Bytes when the file was first opened. A file that grows is read up to there; one that shrinks gives an error. */
  size: number;
}

/** An open file and a position in it. Each virtual user has its own position; the bytes are shared by all. */
export interface File {
  /** Absolute path. */
  path: string;

  /**
   * Fills `into` from the current position and moves on.
   *
   * Resolves with the number of bytes read, which is less than the length of `into` only at the end of the file, or with
   * `null` when nothing is left. k6 fills the whole buffer of a subarray; Onrush fills only the subarray.
   */
  read(into: Uint8Array): Promise<number | null>;

  /**
   * Moves to another position and resolves with it. Rejects when that lies before the first byte or more than one byte behind
   * the last.
   *
   * @param offset whole number; not negative with `SeekMode.Start`, not positive with `SeekMode.End`.
   */
  seek(offset: number, mode: 0 | 1 | 2): Promise<number>;

  /** Name and size. */
  stat(): Promise<FileInfo>;
}

/**
 * Opens a file, in init code only.
 *
 * Relative paths start at the folder of the entry script, also in modules that it imports. The first run of the init code must
 * open every file that later runs open.
 *
 * @example
 * const file = await open("users.bin");
 * export default async function () {
 *   const record = new Uint8Array(64);
 *   if ((await file.read(record)) === null) await file.seek(0, SeekMode.Start);
 * }
 */
export function open(path: string): Promise<File>;

declare const fs: { open: typeof open; SeekMode: typeof SeekMode };
export default fs;
