/**
 * Secrets that the script does not contain: `onrush run --secret-source=file=secrets.txt script.js`.
 *
 * | source | configuration |
 * |---|---|
 * | `file` | `file=PATH`: a file with `key=value` in each line |
 * | `env` | `env`, or `env=prefix=TEXT`: variables of the environment |
 * | `url` | `url=urlTemplate=https://host/{key}`, with `method`, `headers.NAME`, `timeout`, `responsePath` |
 * | | and `retryBackoff` (1s), `maxRetries` (3), `requestsPerMinuteLimit` (300), `requestsBurst` (10): a server that fails is asked again |
 * | | the same in a file of JSON: `url=config=FILE` |
 * | | the same in the environment: `K6_SECRET_SOURCE_URL_URL_TEMPLATE`, `…_METHOD`, `…_HEADER_NAME`, `…_RESPONSE_PATH` and so on |
 * | `mock` | `mock=key=value,…`: for trying a script |
 *
 * Each may have `name=NAME`; of several, the one with `default` is asked by `get`. From the moment at which a script has a
 * secret, `***SECRET_REDACTED***` stands in its place in log lines, the summary and results.
 */

/** A secret of the default source. The promise is rejected when there is no source, or no such secret. */
export function get(key: string): Promise<string>;

/** One source. */
export interface SecretSource {
  get(key: string): Promise<string>;
}

/**
 * The source of a name; without `name=…` that is its type.
 *
 * @throws GoError when there is none.
 */
export function source(name: string): SecretSource;
