/**
 * Digests, message authentication codes and random bytes.
 *
 * Every function takes text (as UTF-8), an ArrayBuffer or a view of one, and throws on anything else.
 */

/** Bytes; of a string its UTF-8. */
export type Bytes = string | ArrayBuffer | ArrayBufferView;

/** Names of the hash functions. MD4, MD5, SHA-1 and RIPEMD-160 are for servers that ask for them, not for security. */
export type Algorithm =
  | "md4"
  | "md5"
  | "sha1"
  | "sha256"
  | "sha384"
  | "sha512"
  | "sha512_224"
  | "sha512_256"
  | "ripemd160";

/** Encodings of a digest: lower-case hexadecimal; base64; base64 with `-` and `_`; the same without padding. */
export type TextEncoding = "hex" | "base64" | "base64url" | "base64rawurl";

/** A digest in progress. */
export interface Hasher {
  /** Adds bytes. */
  update(input: Bytes): void;
  /** The digest of all bytes so far. It can be called again, also after further updates. */
  digest(outputEncoding: TextEncoding): string;
  digest(outputEncoding: "binary"): ArrayBuffer;
}

/** A digest that takes its bytes piece by piece. @throws when the algorithm is unknown. */
export function createHash(algorithm: Algorithm): Hasher;

/** A message authentication code that takes its bytes piece by piece. @throws when the algorithm is unknown. */
export function createHMAC(algorithm: Algorithm, key: Bytes): Hasher;

/** A message authentication code (RFC 2104). */
export function hmac(algorithm: Algorithm, key: Bytes, input: Bytes, outputEncoding: TextEncoding): string;
export function hmac(algorithm: Algorithm, key: Bytes, input: Bytes, outputEncoding: "binary"): ArrayBuffer;

/** MD4, 16 bytes. */
export function md4(input: Bytes, outputEncoding: TextEncoding): string;
export function md4(input: Bytes, outputEncoding: "binary"): ArrayBuffer;

/** MD5, 16 bytes. */
export function md5(input: Bytes, outputEncoding: TextEncoding): string;
export function md5(input: Bytes, outputEncoding: "binary"): ArrayBuffer;

/** SHA-1, 20 bytes. */
export function sha1(input: Bytes, outputEncoding: TextEncoding): string;
export function sha1(input: Bytes, outputEncoding: "binary"): ArrayBuffer;

/** SHA-256, 32 bytes. */
export function sha256(input: Bytes, outputEncoding: TextEncoding): string;
export function sha256(input: Bytes, outputEncoding: "binary"): ArrayBuffer;

/** SHA-384, 48 bytes. */
export function sha384(input: Bytes, outputEncoding: TextEncoding): string;
export function sha384(input: Bytes, outputEncoding: "binary"): ArrayBuffer;

/** SHA-512, 64 bytes. */
export function sha512(input: Bytes, outputEncoding: TextEncoding): string;
export function sha512(input: Bytes, outputEncoding: "binary"): ArrayBuffer;

/** SHA-512/224, 28 bytes. */
export function sha512_224(input: Bytes, outputEncoding: TextEncoding): string;
export function sha512_224(input: Bytes, outputEncoding: "binary"): ArrayBuffer;

/** SHA-512/256, 32 bytes. */
export function sha512_256(input: Bytes, outputEncoding: TextEncoding): string;
export function sha512_256(input: Bytes, outputEncoding: "binary"): ArrayBuffer;

/** RIPEMD-160, 20 bytes. */
export function ripemd160(input: Bytes, outputEncoding: TextEncoding): string;
export function ripemd160(input: Bytes, outputEncoding: "binary"): ArrayBuffer;

/** Lower-case hexadecimal digits of the bytes. */
export function hexEncode(input: Bytes): string;

/** Unpredictable bytes from the operating system. @throws when `size` is not a number from 1 to 1 GiB. */
export function randomBytes(size: number): ArrayBuffer;

declare const crypto: {
  createHash: typeof createHash;
  createHMAC: typeof createHMAC;
  hmac: typeof hmac;
  md4: typeof md4;
  md5: typeof md5;
  sha1: typeof sha1;
  sha256: typeof sha256;
  sha384: typeof sha384;
  sha512: typeof sha512;
  sha512_224: typeof sha512_224;
  sha512_256: typeof sha512_256;
  ripemd160: typeof ripemd160;
  hexEncode: typeof hexEncode;
  randomBytes: typeof randomBytes;
};
export default crypto;
