/**
 * Rows of comma-separated values, from files of `k6/experimental/fs`.
 *
 * The format is RFC 4180: fields in quotes may hold delimiters, line ends and doubled quotes; empty lines are not rows. All
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
  /** The first row. Default 0. */
  fromLine?: number;
  /** The last row, above `fromLine`; 0 or absent: all. */
  toLine?: number;
  /** Rows as objects, with the names of the first row; goes with neither `skipFirstLine` nor `fromLine`. Default false. */
  asObjects?: boolean;
}

/** A row: strings in order, or by name with `asObjects`. */
export type Row = string[] | Record<string, string>;

/**
 * Reads a whole file once for the process, and resolves with a read-only array of its rows, as from `SharedArray`.
 *
 * Reading begins at the position of the first caller's file and does not move it. The same file with the same options is not
 * read again.
 *
 * @throws for invalid options. Rejects when a row is bad.
 *
 * @example
 * const users = await csv.parse(await fs.open("users.csv"), { asObjects: true });
 */
export function parse(file: File, options?: Options): Promise<ReadonlyArray<Readonly<Row>>>;

/**
 * Reads a file row by row as the script asks, without holding it in memory. Make it in init code.
 *
 * A parser reads ahead from the position of its file, up to 64 KiB; after the last row, `file.seek(0, SeekMode.Start)` lets it
 * begin again. With `asObjects` the first row then comes as a row, as in k6: use a new file and parser for each pass, or
 * skip that row.
 *
 * @throws outside of init code, for invalid options, and when the file ends before `fromLine`.
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
    /** The next row; `done` with an empty array when none is left. Rejects for a bad row; the next call continues behind it. */
    next(): Promise<{ done: boolean; value: Row }>;
  };
};

declare const csv: { parse: typeof parse; Parser: typeof Parser };
export default csv;
