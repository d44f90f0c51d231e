/**
 * The names of k6's browser module. Onrush has no browser: a script can import them, and each use of one throws.
 *
 * Send the requests of the pages with `k6/http`, or run the browser's scenario with k6.
 */

/** Not offered: each use throws. */
export const browser: never;
/** Not offered: each use throws. */
export const chromium: never;
/** Not offered: each use throws. */
export const devices: never;
/** Not offered: each use throws. */
export const networkProfiles: never;
