// Needs a name server: `cargo xtask extensions dns` starts one and gives its places.
import dns, { lookup, resolve } from "k6/x/dns";
import { is } from "../../../../tests/lib/assert.js";

export const options = {
  iterations: 1,
  hosts: { "ns.onrush.test": "127.0.0.1", "only.hosts.test": "127.0.0.9" },
  blacklistIPs: ["198.51.100.0/24"],
  thresholds: {
    checks: ["rate == 1"],
    iterations: ["count == 1"],
    dns_resolutions: ["count == 24"],
    dns_resolution_duration: ["min > 0", "max >= 2000", "max < 4000"],
    dns_lookups: ["count == 4"],
    dns_lookup_duration: ["max < 10000"],
    data_sent: ["count > 500"],
    data_received: ["count > 2000"],
  },
};

const { at, at6, port } = JSON.parse(__ENV.DNS);

async function fails(name, promise, text, rcode) {
  let error = {};
  await promise.catch((thrown) => (error = thrown));
  is(name, String(error.message).includes(text) || String(error.message), true);
  is(`${name}: kind`, [error.name, error.rcode], rcode === undefined ? ["GoError", undefined] : ["GoError", rcode]);
}

const sorted = (list) => list.sort();

let inInit = "nothing";
try {
  resolve("one.onrush.test", "A", at);
} catch (error) {
  inInit = error.message;
}

export default async function () {
  is("names", [dns.resolve === resolve, dns.lookup === lookup], [true, true]);
  is("init code", inInit, "resolve() in the init context is not supported");
  await records();
  await refusals();
  await silence();
  await system();
}

async function records() {
  is("A", await resolve("one.onrush.test", "A", at), ["192.0.2.1"]);
  is("AAAA", await resolve("one.onrush.test", "AAAA", at), ["2001:db8::1"]);
  is("the root's dot", await resolve("ONE.onrush.test.", "A", at), ["192.0.2.1"]);
  is("two", sorted(await resolve("two.onrush.test", "A", at)), ["192.0.2.2", "192.0.2.3"]);
  is("an alias", await resolve("alias.onrush.test", "A", at), ["192.0.2.1"]);
  is("CNAME", await resolve("alias.onrush.test", "CNAME", at), ["one.onrush.test."]);
  is("MX", await resolve("onrush.test", "MX", at), ["10 one.onrush.test."]);
  is("NS", await resolve("onrush.test", "NS", at), ["ns.onrush.test."]);
  is("SRV", await resolve("_sip._udp.onrush.test", "SRV", at), ["1 2 5060 one.onrush.test."]);
  is("TXT", await resolve("one.onrush.test", "TXT", at), ['two "words", and more']);
  is("PTR", await resolve("1.2.0.192.in-addr.arpa", "PTR", at), ["one.onrush.test."]);
  is("another alphabet", await resolve("bücher.onrush.test", "A", at), ["192.0.2.4"]);
  is("no such record", await resolve("two.onrush.test", "AAAA", at), []);
  const many = Array.from({ length: 90 }, (_, n) => `203.0.113.${n}`);
  is("too many for a datagram", sorted(await resolve("many.onrush.test", "A", at)), sorted(many));
  is("a server by name", await resolve("one.onrush.test", "A", `ns.onrush.test:${port}`), ["192.0.2.1"]);
  if (at6) is("a server of IPv6", await resolve("one.onrush.test", "A", at6), ["192.0.2.1"]);
  else is("without IPv6", await resolve("one.onrush.test", "A", at), ["192.0.2.1"]);
  const both = await Promise.all([resolve("one.onrush.test", "A", at), resolve("one.onrush.test", "AAAA", at)]);
  is("two at once", both, [["192.0.2.1"], ["2001:db8::1"]]);
}

async function refusals() {
  const text = `resolve("none.onrush.test", "A", "${at}"): the name server answered NXDOMAIN: there is no such name`;
  await fails("NXDOMAIN", resolve("none.onrush.test", "A", at), text, "NXDOMAIN");
  await fails("REFUSED", resolve("elsewhere.test", "A", at), "the name server answered REFUSED", "REFUSED");
  await fails("SERVFAIL", resolve("x.broken.test", "A", at), "the name server answered SERVFAIL", "SERVFAIL");
  await fails("a blocked server", resolve("x.test", "A", "198.51.100.1:53"), "IP (198.51.100.1) is in a blacklisted range");
  await fails("nobody there", resolve("x.test", "A", "127.0.0.1:1"), "read udp 127.0.0.1:1: Connection refused");
  await fails("another type", resolve("x.test", "ANY", at), "found the record type \"ANY\", expected one of A, AAAA,");
  await fails("no port", resolve("x.test", "A", "127.0.0.1"), 'found the name server "127.0.0.1", expected "host:port"');
  await fails("no server", resolve("x.test", "A"), 'found no name server, expected "host:port"');
  await fails("no name", resolve("", "A", at), "found an empty name");
}

async function silence() {
  // A socket of the suite that nobody reads.
  const began = Date.now();
  await fails("silence", resolve("x.test", "A", JSON.parse(__ENV.DNS).silent), "no answer within 2 s");
  const took = Date.now() - began;
  is("its time", took >= 1990 && took < 4000, true);
}

async function system() {
  is("localhost", (await lookup("localhost")).every((address) => ["127.0.0.1", "::1"].includes(address)), true);
  is("an address", await lookup("192.0.2.7"), ["192.0.2.7"]);
  await fails("no such host", lookup("nothing.invalid"), 'lookup("nothing.invalid"): ');
  await fails("hosts are not asked", lookup("only.hosts.test"), 'lookup("only.hosts.test"): ');
  await fails("an empty name", lookup(""), "found an empty name");
}
