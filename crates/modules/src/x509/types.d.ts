/**
 * What X.509 certificates say. Each function takes PEM text, of which it reads the first certificate.
 *
 * @throws GoError when the text has no certificate.
 */

/** A part of a name: its object identifier (`2.5.4.3` is the common name) and its text. */
export interface NamePart {
  type: string;
  value: string;
}

/** Who signed the certificate. */
export interface Issuer {
  commonName: string;
  country: string;
  stateOrProvinceName: string;
  localityName: string;
  organizationName: string;
  names: NamePart[];
}

/** Whom the certificate is for. */
export interface Subject extends Issuer {
  postalCode: string;
  streetAddress: string;
  organizationalUnitName: string[];
}

/** A public key. Its numbers are BigInts, but for the exponent of RSA. */
export type PublicKey =
  | { algorithm: "RSA"; key: { n: bigint; e: number } }
  | { algorithm: "ECDSA"; key: { curve: { name: string }; x: bigint; y: bigint } }
  | { algorithm: "DSA"; key: { parameters: { p: bigint; q: bigint; g: bigint }; y: bigint } };

/** A certificate. */
export interface Certificate {
  subject: Subject;
  issuer: Issuer;
  /** As `2026-11-23T05:20:35Z`. */
  notBefore: string;
  notAfter: string;
  /** Host names, mail addresses, IP addresses and URIs. */
  altNames: string[];
  /** As Go names it: `SHA256-RSA`, `ECDSA-SHA256`. */
  signatureAlgorithm: string;
  /** The bytes of the SHA-1 digest. */
  fingerPrint: number[];
  publicKey: PublicKey;
}

/**
 * Everything.
 *
 * @throws GoError when the public key is none of RSA, ECDSA and DSA.
 */
export function parse(pem: string): Certificate;
/** Host names, mail addresses, IP addresses and URIs. */
export function getAltNames(pem: string): string[];
export function getIssuer(pem: string): Issuer;
export function getSubject(pem: string): Subject;
