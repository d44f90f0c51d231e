/**
 * Variables of `.env` files in `__ENV`, as in the extension xk6-dotenv.
 *
 * Importing the module reads the files of the working directory. The first user of a run reads them for all. A variable
 * that `__ENV` has already, from the environment or from `-e`, stays. `K6_ENV` names the environment; it is
 * `development` where nothing names it, and `false` reads no file. Of several files the first one in this table wins:
 *
 * | file | read |
 * |---|---|
 * | `.env.ENVIRONMENT.local` | always |
 * | `.env.local` | unless the environment is `test` |
 * | `.env.ENVIRONMENT` | always |
 * | `.env` | always |
 *
 * Differs from the extension: a script has to import the module, and the variables reach `__ENV` alone, so `K6_VUS` in
 * a file changes no option. A file that cannot be understood ends the test with its name and the line.
 *
 * The format is that of the library godotenv:
 *
 * ```sh
 * # not tested: a .env file
 * export HOST=test.example   # a comment stands behind a space
 * URL="https://${HOST}:8080" # variables above in capitals; `\n`, `\r` and `\"` are escapes
 * TOKEN='as $it is'          # nothing is replaced
 * KEY="several
 * lines"
 * NAME: value
 * ```
 *
 * Unlike there, a comment begins at the first ` #` of a line, and a line without a name or with text behind a closing
 * quote is an error.
 *
 * ```js
 * import "k6/x/dotenv";
 * import http from "k6/http";
 *
 * export default function () {
 *   http.get(__ENV.URL);
 * }
 * ```
 */

/**
 * The variables of a text in the format of `.env` files, in its order.
 *
 * @throws GoError `parse(): line 2: found "B", expected NAME=value`
 */
export function parse(text: string): Record<string, string>;

/**
 * A text that `parse` reads as the same variables: sorted by name, whole numbers bare, other values in double quotes.
 *
 * @throws GoError for what is no object
 */
export function stringify(value: Record<string, string>): string;

declare const dotenv: { parse: typeof parse; stringify: typeof stringify };
export default dotenv;
