// TOTP: time-based one-time passwords (RFC 6238, HMAC-SHA-1, steps of 30 s), as scripts import them from
// https://jslib.k6.io/totp/VERSION/index.js.
import { hmac } from 'k6/crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP = 30;

/** The bytes of a secret in base32 (RFC 4648); case, spaces and padding do not count. */
function fromBase32(text) {
  const bytes = [];
  let held = 0;
  let bits = 0;
  for (const character of text.toUpperCase().replace(/[\s=-]/g, '')) {
    const value = ALPHABET.indexOf(character);
    if (value < 0) throw new Error(`the secret has the character ${JSON.stringify(character)}: base32 has A-Z and 2-7`);
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >> bits) & 0xff);
    }
  }
  return new Uint8Array(bytes);
}

export class TOTP {
  /** `secret` in base32, `digits` of each password. */
  constructor(secret, digits = 6) {
    this.secret = secret;
    this.digits = digits;
    this.key = fromBase32(secret).buffer;
  }

  /** The password for a step: by default that of now. */
  async gen(step = Math.floor(Date.now() / 1000 / STEP)) {
    const counter = new DataView(new ArrayBuffer(8));
    counter.setBigUint64(0, BigInt(step));
    const digest = new Uint8Array(hmac('sha1', this.key, counter.buffer, 'binary'));
    const at = digest[digest.length - 1] & 0x0f;
    const number = ((digest[at] & 0x7f) * 2 ** 24) + (digest[at + 1] << 16) + (digest[at + 2] << 8) + digest[at + 3];
    return String(number % 10 ** this.digits).padStart(this.digits, '0');
  }

  /** Whether a password is that of now, of the step before or of the one behind. */
  async verify(password) {
    const now = Math.floor(Date.now() / 1000 / STEP);
    const near = await Promise.all([now - 1, now, now + 1].map((step) => this.gen(step)));
    return near.includes(String(password));
  }
}
