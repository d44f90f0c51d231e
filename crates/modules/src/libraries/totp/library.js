// TOTP: time-based one-time passwords (RFC 6238, HMAC-SHA-1). As in k6, a secret is read as one big number: its zero bytes at
// the beginning are lost, and padding with = is not understood.

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The bytes of a secret in base32 (RFC 4648) in either case. */
function keyOf(secret) {
  const values = Array.from({ length: secret.length }, (_, at) => ALPHABET.indexOf(secret.charAt(at).toUpperCase()));
  const bits = values.map((value) => value.toString(2).padStart(5, '0')).join('');
  const digits = (bits.match(/.{4}/g) ?? []).map((four) => parseInt(four, 2).toString(16));
  const bytes = [];
  for (let rest = BigInt(`0x${digits.join('')}`); rest > 0; rest >>= 8n) bytes.unshift(Number(rest & 0xffn));
  return Uint8Array.from(bytes);
}

class TOTP {
  /** `secret` in base32, `digits` of each password. */
  constructor(secret, digits = 6) {
    this.key = secret;
    this.digits = digits;
  }

  /** The password of now, in steps of so many seconds. `skew`: seconds that the clock is taken to be ahead. */
  async gen(step = 30, skew = 0) {
    const bytes = keyOf(this.key);
    const counter = new DataView(new ArrayBuffer(8));
    counter.setUint32(4, Math.floor((Date.now() / 1000 - skew) / step));
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: { name: 'SHA-1' } }, false, ['sign']);
    const digest = new DataView(await crypto.subtle.sign('HMAC', key, counter.buffer));
    const number = digest.getUint32(digest.getUint8(digest.byteLength - 1) & 0x0f) & 0x7fffffff;
    return (number % Math.pow(10, this.digits)).toString().padStart(this.digits, '0');
  }

  /** Whether it is the password of now. */
  async verify(password, step = 30) {
    return password === (await this.gen(step));
  }
}

exports.TOTP = TOTP;
Object.defineProperty(exports, '__esModule', { value: true });
