/**
 * base64 to and from text.
 *
 * Both directions run at memory speed: an image that a script carries as base64 text costs about as much as copying it.
 */

/**
 * Alphabet and padding: `std` (`+`, `/`, padded), `rawstd` (not padded), `url` (`-`, `_`, padded), `rawurl` (not
 * padded). Any other name means `std`.
 */
export type Base64Variant = "std" | "rawstd" | "url" | "rawurl";

/** Bytes; of a string its UTF-8. */
export type Bytes = string | ArrayBuffer | ArrayBufferView;

/**
 * The bytes as base64 text.
 *
 * @throws when `input` is anything but a string, an ArrayBuffer or a view of one.
 */
export function b64encode(input: Bytes, variant?: Base64Variant): string;

/**
 * The bytes that base64 text encodes.
 *
 * Line breaks are skipped. Padded pieces may follow each other (`YQ==Yg==` is `ab`): k6 throws at the first byte
 * after a padding.
 *
 * @throws with the position of the first byte that is not base64.
 */
export function b64decode(input: string, variant?: Base64Variant): ArrayBuffer;

/** The same as text, when the third argument is `"s"`. Bytes that are not UTF-8 become U+FFFD. */
export function b64decode(input: string, variant: Base64Variant | undefined, format: "s"): string;

declare const encoding: { b64encode: typeof b64encode; b64decode: typeof b64decode };
export default encoding;
