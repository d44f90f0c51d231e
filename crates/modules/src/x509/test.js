// Certificates: names, dates, keys, and texts that are none. Runs under k6 as well.
import { check } from "k6";
import x509, { getAltNames, getIssuer, getSubject, parse } from "k6/crypto/x509";
import { thrown } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

// Made for this test with openssl; nobody has their keys.
const rsa = `-----BEGIN CERTIFICATE-----
MIIDNDCCAp2gAwIBAgIUF2Acs+UHbXHdZW4RhYnJO8Cz6UwwDQYJKoZIhvcNAQEL
BQAwgYYxCzAJBgNVBAYTAlpaMQ4wDAYDVQQIDAVTdGF0ZTENMAsGA1UEBwwEQ2l0
eTEMMAoGA1UECgwDT3JnMQswCQYDVQQLDAJVMTELMAkGA1UECwwCVTIxFDASBgNV
BAMMC2V4YW1wbGUuY29tMQwwCgYDVQQJDANTIDExDDAKBgNVBBEMAzEyMzAgFw0y
NjExMjMwNTI4MDlaGA8yMTI2MTAzMDA1MjgwOVowgYYxCzAJBgNVBAYTAlpaMQ4w
DAYDVQQIDAVTdGF0ZTENMAsGA1UEBwwEQ2l0eTEMMAoGA1UECgwDT3JnMQswCQYD
VQQLDAJVMTELMAkGA1UECwwCVTIxFDASBgNVBAMMC2V4YW1wbGUuY29tMQwwCgYD
VQQJDANTIDExDDAKBgNVBBEMAzEyMzCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkC
gYEAzK7/Vy70ENwKbXRcIXlu1mpubB85Lral44pS0STmk5IzaO6k1A1A/lVKegfG
kMyWY0wKVHn5dcqdgyXu+hYIQHE0rBapSO+AQkHr1w4m6Hl8V2C8HZpYUPOtMCRR
L5c0dejPKzJFED3J3QeWpdmXFJakXa7W2wzQeIkoxnZoOnMCAwEAAaOBmjCBlzAd
BgNVHQ4EFgQUpqQyWItj1WrSLgAhbR+hzF3oocowHwYDVR0jBBgwFoAUpqQyWItj
1WrSLgAhbR+hzF3oocowDwYDVR0TAQH/BAUwAwEB/zBEBgNVHREEPTA7hg1odHRw
czovL3Uuci9pggtleGFtcGxlLmNvbYcEAQIDBIcQAAAAAAAAAAAAAAAAAAAAAYEF
YUBiLmMwDQYJKoZIhvcNAQELBQADgYEATjZtF6YmWTlosmHbfJhGlzIIi3N6LJs5
rYoHVOJe9ny7UMrlWr/4GHR+w6F4eMq/lXdxCEICWBTOKZuyReVsWvRbzIiE30gR
dOXMH7+Ve7xhihCc8yxR00ZPprQnpPtWvifKWfH1oCpL3gHwcz07DxS7wR1Pg1U8
DkSPwLaVh4U=
-----END CERTIFICATE-----`;
const ec = `-----BEGIN CERTIFICATE-----
MIIBcTCCARegAwIBAgIUe05Bf6UgrIBeOQ24rM1P/tlRIw8wCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCZWMwIBcNMjYxMTIzMDUyODA5WhgPMjEyNjEwMzAwNTI4MDla
MA0xCzAJBgNVBAMMAmVjMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEruF8eGfd
VBiWaIXxtDv+3ugXHSFkpzBtap0LzvdrzCd2pFtONtiAThTQZRU9GFTTcMW0hnOe
8jeY2QUD34Ai16NTMFEwHQYDVR0OBBYEFFK1YG1lvl2T8oUUb543O3ke8gz4MB8G
A1UdIwQYMBaAFFK1YG1lvl2T8oUUb543O3ke8gz4MA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDSAAwRQIgW4hyFN98sEwNuaizLfut/rczNZOgfajnMEby5E9p
dagCIQDDja5d6Ao96BENlScjz+vdXbjeVx1Apj/4HjZAAaGP0A==
-----END CERTIFICATE-----`;
const ed25519 = `-----BEGIN CERTIFICATE-----
MIIBMDCB46ADAgECAhRQB7vOZv7wMfsEMxByOeTSCHsY6jAFBgMrZXAwDTELMAkG
A1UEAwwCZWQwIBcNMjYxMTIzMDUyODA5WhgPMjEyNjEwMzAwNTI4MDlaMA0xCzAJ
BgNVBAMMAmVkMCowBQYDK2VwAyEAFycxQy0zqVIRpNtI5amiul+8RXRvTBORWEPP
HDQnsOOjUzBRMB0GA1UdDgQWBBRy9mMIlgofwhGITjL4YcjFK45HwjAfBgNVHSME
GDAWgBRy9mMIlgofwhGITjL4YcjFK45HwjAPBgNVHRMBAf8EBTADAQH/MAUGAytl
cANBAF65ZRYgNw+pWphILflG2Yuyalk3Ui91e4BZM07cMXD0gObBMa55cfGtaIJz
i9H5Lg10V/W2v3anr37W+0KilAM=
-----END CERTIFICATE-----`;

export default function () {
  const certificate = parse(rsa);
  const { subject, issuer, publicKey } = certificate;
  check(certificate, {
    "subject": () =>
      [subject.commonName, subject.country, subject.postalCode, subject.stateOrProvinceName, subject.localityName,
        subject.streetAddress, subject.organizationName].join() === "example.com,ZZ,123,State,City,S 1,Org" &&
      subject.organizationalUnitName.join() === "U1,U2",
    "names": () => subject.names.length === 9 && subject.names[0].type === "2.5.4.6" && subject.names[0].value === "ZZ",
    "issuer": () => Object.keys(issuer).join() ===
      "commonName,country,stateOrProvinceName,localityName,organizationName,names" && issuer.commonName === "example.com",
    "dates": (c) => c.notBefore === "2026-11-23T05:28:09Z" && c.notAfter > c.notBefore,
    "alternative names": (c) => c.altNames.join() === "example.com,a@b.c,1.2.3.4,::1,https://u.r/i",
    "signature": (c) => c.signatureAlgorithm === "SHA256-RSA" && parse(ec).signatureAlgorithm === "ECDSA-SHA256",
    "fingerprint": (c) => c.fingerPrint.map((byte) => byte.toString(16).padStart(2, "0")).join("") ===
      "f489b18b78b316399f64a0b456b9eb5f2168f699",
    "RSA": () => publicKey.algorithm === "RSA" && publicKey.key.e === 65537 && publicKey.key.n.toString(2).length === 1024,
    "ECDSA": () => parse(ec).publicKey.algorithm === "ECDSA" && typeof parse(ec).publicKey.key.x === "bigint",
    "parts alone": () => getSubject(ec).commonName === "ec" && getIssuer(ec).names.length === 1 &&
      getAltNames(ec).length === 0 && getAltNames(rsa).length === 5,
    "the first of several": () => x509.parse(`text\n${ec}\n${rsa}`).subject.commonName === "ec",
    "another key": () => thrown(() => parse(ed25519)).startsWith("GoError: ") && getSubject(ed25519).commonName === "ed",
    "no certificate": () =>
      ["", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"].every((text) => thrown(() => parse(text)).startsWith("GoError: ")),
  });
}
