// Wycheproof's vectors against crypto.subtle: a line for each with another result than it should have, and how many have theirs.
const { subtle } = crypto;

const bytes = (hex) => new Uint8Array((hex.match(/../g) ?? []).map((pair) => parseInt(pair, 16)));
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
const DIGEST_BITS = { 'SHA-1': 160, 'SHA-256': 256, 'SHA-384': 384, 'SHA-512': 512 };

/** Both ways: what decrypts to the message is what the message encrypts to. */
async function cipher(params, key, message, sealed) {
  if (hex(await subtle.decrypt(params, key, bytes(sealed))) !== message) return false;
  return hex(await subtle.encrypt(params, key, bytes(message))) === sealed;
}

async function gcm(group, one) {
  const key = await subtle.importKey('raw', bytes(one.key), 'AES-GCM', false, ['encrypt', 'decrypt']);
  const params = { name: 'AES-GCM', iv: bytes(one.iv), additionalData: bytes(one.aad), tagLength: group.tagSize };
  return cipher(params, key, one.msg, one.ct + one.tag);
}

async function cbc(group, one) {
  const key = await subtle.importKey('raw', bytes(one.key), 'AES-CBC', false, ['encrypt', 'decrypt']);
  return cipher({ name: 'AES-CBC', iv: bytes(one.iv) }, key, one.msg, one.ct);
}

/** Shortened tags are none of the Web's. */
const hmac = (hash) => async (group, one) => {
  if (group.tagSize !== DIGEST_BITS[hash]) return undefined;
  const key = await subtle.importKey('raw', bytes(one.key), { name: 'HMAC', hash }, false, ['verify']);
  return subtle.verify('HMAC', key, bytes(one.tag), bytes(one.msg));
};

const ecdsa = (namedCurve) => async (group, one) => {
  const key = await subtle.importKey('jwk', group.publicKeyJwk, { name: 'ECDSA', namedCurve }, false, ['verify']);
  return subtle.verify({ name: 'ECDSA', hash: group.sha }, key, bytes(one.sig), bytes(one.msg));
};

const ecdh = (namedCurve, bits) => async (group, one) => {
  const theirs = await subtle.importKey('jwk', one.public, { name: 'ECDH', namedCurve }, false, []);
  const own = await subtle.importKey('jwk', one.private, { name: 'ECDH', namedCurve }, false, ['deriveBits']);
  return hex(await subtle.deriveBits({ name: 'ECDH', public: theirs }, own, bits)) === one.shared;
};

async function pkcs1(group, one) {
  const name = 'RSASSA-PKCS1-v1_5';
  const key = await subtle.importKey('spki', bytes(group.publicKeyDer), { name, hash: group.sha }, false, ['verify']);
  return subtle.verify(name, key, bytes(one.sig), bytes(one.msg));
}

async function pss(group, one) {
  const key = await subtle.importKey('spki', bytes(group.publicKeyDer), { name: 'RSA-PSS', hash: group.sha }, false, ['verify']);
  return subtle.verify({ name: 'RSA-PSS', saltLength: group.sLen }, key, bytes(one.sig), bytes(one.msg));
}

async function oaep(group, one) {
  const key = await subtle.importKey('pkcs8', bytes(group.privateKeyPkcs8), { name: 'RSA-OAEP', hash: group.sha }, false, ['decrypt']);
  return hex(await subtle.decrypt({ name: 'RSA-OAEP', label: bytes(one.label ?? '') }, key, bytes(one.ct))) === one.msg;
}

const FILES = {
  aes_gcm: gcm,
  aes_cbc_pkcs5: cbc,
  hmac_sha1: hmac('SHA-1'),
  hmac_sha256: hmac('SHA-256'),
  hmac_sha384: hmac('SHA-384'),
  hmac_sha512: hmac('SHA-512'),
  ecdsa_secp256r1_webcrypto: ecdsa('P-256'),
  ecdsa_secp384r1_webcrypto: ecdsa('P-384'),
  ecdsa_secp521r1_webcrypto: ecdsa('P-521'),
  ecdh_secp256r1_webcrypto: ecdh('P-256', 256),
  ecdh_secp384r1_webcrypto: ecdh('P-384', 384),
  ecdh_secp521r1_webcrypto: ecdh('P-521', 528),
  rsa_signature_2048_sha256: pkcs1,
  rsa_signature_2048_sha384: pkcs1,
  rsa_signature_2048_sha512: pkcs1,
  rsa_signature_3072_sha256: pkcs1,
  rsa_signature_4096_sha512: pkcs1,
  rsa_pss_2048_sha1_mgf1_20: pss,
  rsa_pss_2048_sha256_mgf1_0: pss,
  rsa_pss_2048_sha256_mgf1_32: pss,
  rsa_pss_3072_sha256_mgf1_32: pss,
  rsa_pss_4096_sha512_mgf1_32: pss,
  rsa_oaep_2048_sha1_mgf1sha1: oaep,
  rsa_oaep_2048_sha256_mgf1sha256: oaep,
  rsa_oaep_2048_sha384_mgf1sha384: oaep,
  rsa_oaep_3072_sha512_mgf1sha512: oaep,
};
const groups = Object.keys(FILES).map((name) => [name, JSON.parse(open(`${__ENV.TESTS}/${name}_test.json`)).testGroups]);

export default async function () {
  for (const [name, list] of groups) {
    let same = 0;
    for (const group of list) {
      for (const one of group.tests) {
        let why = '';
        const result = await FILES[name](group, one).catch((error) => ((why = `${error.name}: ${error.message}`), false));
        // Some may be either.
        if (result === undefined || one.result === 'acceptable') continue;
        if (result === (one.result === 'valid')) same += 1;
        else console.log(`differs ${name} ${one.tcId}, ${one.result} (${one.comment}): ${why || result}`);
      }
    }
    console.log(`same ${same}`);
  }
}
