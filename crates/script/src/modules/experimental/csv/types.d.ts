/**
 * Rows of comma-separated values out of files of `k6/experimental/fs`.
 *
 * Read as RFC 4180 says: fields in quotes may hold delimiters, line ends and doubled quotes; empty lines are no rows. All
 * fields are strings. Every row must have as many fields as the first, and a quote stands at the beginning and end of a field
 * only: other rows are errors that name line and column. A byte order mark stays part of the first field, as in k6.
 */
import type { File } from "k6/experimental/fs";

/** Which rows, in which form. Rows are numbered from 0; the first one counts, empty lines do not. */
export interface Options {
  /** One ASCII character between two fields. Default `","`. */
  delimiter?: string;
  /** Leave out the first row. Default false. */
  skipFirstLine?: boolean;
  /** The first row wanted. Default 0. */
  fromLine?: number;
  /** The last row wanted, above `fromLine`; 0 or absent: all. */
  toLine?: number;
  /** Rows as objects, whose names stand in the first row; goes with neither `skipFirstLine` nor `fromLine`. Default false. */
  asObjects?: boolean;
}

/** A row: strings in order, or by name with `asObjects`. */
export type Row = string[] | Record<string, string>;

/**
 * Reads a whole file, once for the process however many virtual users there are, and resolves with a read-only array of its
 * rows as `SharedArray` makes them.
 *
 * Reading begins where the file stands, for the first caller; the same file with the same options is not read again. The
 * position of the file stays as it is.
 *
 * @throws for options of no use. Rejects when a row is bad.
 *
 * @example
 * const users = await csv.parse(await fs.open("users.csv"), { asObjects: true });
 */
export function parse(file: File, options?: Options): Promise<ReadonlyArray<Readonly<Row>>>;

/**
 * Reads a file row by row as the script asks, without holding it in memory. Made in init code only.
 *
 * A parser reads ahead from the position of its file, up to 64 KiB; after the last row, `file.seek(0, SeekMode.Start)` lets it
 * begin anew (with `asObjects` the first row then comes as a row, as in k6: give each pass a file and parser of its own, or
 * leave that row out).
 *
 * @throws outside of init code, for options of no use, and when the file ends before the first row that is wanted.
 *
 * @example
 * const parser = new csv.Parser(await fs.open("users.csv"), { skipFirstLine: true });
 * export default async function () {
 *   const { done, value } = await parser.next();
 *   if (!done) console.log(value[0]);
 * }
 */
export const Parser: {
  new (file: File, options?: Options): {
    /** The next row; `done` with an empty array when none is left. Rejects for a bad row; the next call goes on behind it. */
    next(): Promise<{ done: boolean; value: Row }>;
  };
};

declare const csv: { parse: typeof parse; Parser: typeof Parser };
export default csv;
