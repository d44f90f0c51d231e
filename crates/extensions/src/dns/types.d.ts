/**
 * Names: asks a name server, or the system, for the addresses of a name, as k6's extension of that name does.
 *
 * Each call asks anew: nothing is kept, not even for the time that a record lasts. A question to a server is one
 * datagram over UDP, without EDNS, that is not sent again. An answer that does not fit is asked for again over TCP. A
 * server has 2 seconds for all of it.
 *
 * | metric | type | what |
 * |---|---|---|
 * | `dns_resolutions` | counter | calls of `resolve`, without those whose arguments are wrong |
 * | `dns_resolution_duration` | trend, ms | until the answer, or the failure |
 * | `dns_lookups` | counter | calls of `lookup`, likewise |
 * | `dns_lookup_duration` | trend, ms | until the answer, or the failure |
 *
 * Their tags are those of the virtual user. Questions that fail are counted too, a silent server with its 2 seconds. The
 * messages of `resolve` count as `data_sent` and `data_received`; what the system asks does not, and k6 counts neither.
 *
 * A promise is rejected with a `GoError`. Where a server answered with an error, its property `rcode` is the code's name.
 *
 * ```js
 * import dns from "k6/x/dns";
 *
 * export default async function () {
 *   const addresses = await dns.resolve("example.com", "A", "192.0.2.53:53");
 *   try {
 *     await dns.resolve("nothing.example.com", "AAAA", "[2001:db8::53]:53");
 *   } catch (error) {
 *     console.log(error.rcode); // NXDOMAIN
 *   }
 *   console.log(addresses, await dns.lookup("example.com"));
 * }
 * ```
 */

/** Records that can be asked for; k6 has `A` and `AAAA` alone. */
export type RecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS" | "PTR" | "SRV" | "TXT";

/**
 * Asks a name server.
 *
 * The server's own name and address follow the test's rules: `hosts`, `blockHostnames`, `blacklistIPs`, `localIPs`.
 * A user with a network of its own (the option `network`) cannot ask, because that carries no UDP.
 *
 * @param query the name; for `PTR` one like `1.2.0.192.in-addr.arpa`
 * @param nameserver `host:port`, or `[address]:port` where the address is of IPv6
 * @returns Addresses; for other records their data as in a zone's file, such as `10 mail.example.com.` for `MX`, a text
 * without quotes. Aliases on the way are left out. Empty where the name has no such record.
 * @throws GoError for a wrong argument, for silence, and for an answer with a code such as `NXDOMAIN`, `SERVFAIL` or
 * `REFUSED`, which is then in its property `rcode`
 */
export function resolve(query: string, recordType: RecordType, nameserver: string): Promise<string[]>;

/**
 * Asks the system, by its files and its name servers. No option of the test changes that: not `hosts`, `dns`,
 * `blockHostnames` or `blacklistIPs`.
 *
 * @param hostname a name; an address is its own answer
 * @returns addresses of both families, in the system's order
 * @throws GoError when the system knows none
 */
export function lookup(hostname: string): Promise<string[]>;

declare const dns: { resolve: typeof resolve; lookup: typeof lookup };
export default dns;
