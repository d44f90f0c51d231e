// What needs no server: constants, loading, and what is refused before anything is sent. Runs under k6 as well.
import { check } from "k6";
import grpc, { Client, Stream, StatusOK, StatusUnauthenticated } from "k6/net/grpc";
import { thrown } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

const client = new Client();
// Paths start at the script of the test, which need not be this file.
const here = import.meta.resolve("./").replace("file://", "");

const early = [
  () => client.connect("127.0.0.1:1", { plaintext: true }),
  () => client.invoke("onrush.test.Asking/Ask", {}),
].map(thrown);
const missing = thrown(() => client.load([here], "nothing.proto"));
const methods = client.load([here], "test.proto");
const nothing = client.load();

export default function () {
  check(grpc, {
    "statuses are numbers": () => [StatusOK, grpc.StatusNotFound, StatusUnauthenticated].map(Number).join() === "0,5,16",
    "health, with its slip": () => Number(grpc.HealthCheckServing) === 1 && Number(grpc.HealthCheckServiceUnkown) === 3,
  });
  check(methods, {
    "methods are listed": (list) => list.map((method) => method.name).join() === "Ask,Listen" && nothing.length === 0,
    "with their facts": ([ask, listen]) =>
      ask.package === "onrush.test" && ask.service === "Asking" && ask.full_method === "/onrush.test.Asking/Ask" &&
      ask.is_server_stream === false && listen.is_server_stream === true && listen.is_client_stream === false,
    "a file that is missing": () => missing.startsWith("GoError: stat /") && missing.endsWith("/nothing.proto: no such file or directory"),
    "loading is for init code": () =>
      thrown(() => client.load([here], "test.proto")) === "GoError: load must be called in the init context",
    "calling is not": () =>
      early[0] === "GoError: connecting to a gRPC server in the init context is not supported" &&
      early[1] === "GoError: invoking RPC methods in the init context is not supported",
  });
  const bad = (params) => thrown(() => client.connect("127.0.0.1:1", params)).replace("GoError: invalid grpc.connect() parameters: ", "");
  check(null, {
    "no connection": () =>
      thrown(() => client.invoke("onrush.test.Asking/Ask", {})) === "GoError: no gRPC connection, you must call connect first",
    "no connection for a stream": () =>
      thrown(() => new Stream(client, "x")) ===
      "GoError: invalid GRPC Stream's client: no gRPC connection, you must call connect first",
    "no client for a stream": () => thrown(() => new Stream({}, "x")) === "GoError: invalid GRPC Stream's client: not a gRPC client",
    "an unknown param": () => bad({ plain: true }) === 'unknown connect param: "plain"',
    "no flag": () => bad({ plaintext: "x" }) === "invalid plaintext value: '\"x\"', it needs to be boolean",
    "no size": () => bad({ maxReceiveSize: -1 }) === "invalid maxReceiveSize value: '-1, it needs to be a positive integer",
    "no time": () => bad({ timeout: "x" }) === 'invalid timeout value: time: invalid duration "x"',
    "no port": () =>
      thrown(() => client.connect("host", { plaintext: true })) ===
      'GoError: connection error: desc = "transport: error while dialing: address host: missing port in address"',
    "nobody listens": () =>
      thrown(() => client.connect("127.0.0.1:1", { plaintext: true, timeout: "5s" })) ===
      'GoError: connection error: desc = "transport: error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"',
    "closing what is not open": () => thrown(() => client.close()) === "",
  });
}
