// Requests of http-instrumentation-tempo against app.js.
import exec from "k6/execution";
import http from "k6/http";
import tempo, { Client } from "https://jslib.k6.io/http-instrumentation-tempo/1.0.1/index.js";
import { is, messageOf } from "../../../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

const plainly = http.get;
const sampled = new Client({ propagator: "w3c" });
const never = new Client({ propagator: "jaeger", sampling: 0 });
const W3C = /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/;

export default async function () {
  const headers = sampled.get(__ENV.TARGET, { headers: { "X-Own": "1" } }).json().headers;
  is("a header of the W3C", W3C.test(headers.traceparent), true);
  is("a header of the script", headers["x-own"], "1");
  const jaeger = never.post(__ENV.TARGET, "body").json();
  is("Jaeger's header", /^dc0718[0-9a-f]{26}:[0-9a-f]{8}:0:0$/.test(jaeger.headers["uber-trace-id"]), true);
  is("a method", jaeger.method, "POST");
  is("a request", sampled.request("PUT", __ENV.TARGET).json().method, "PUT");
  is("a promise", W3C.test((await sampled.asyncRequest("GET", __ENV.TARGET)).json().headers.traceparent), true);
  is("metadata that goes away", "trace_id" in exec.vu.metrics.metadata, false);

  is("no header", http.get(__ENV.TARGET).json().headers.traceparent, undefined);
  tempo.instrumentHTTP({ propagator: "w3c" });
  const [first, second] = [http.get(__ENV.TARGET), http.del(__ENV.TARGET)].map((response) => response.json().headers.traceparent);
  is("all requests", [W3C.test(first), W3C.test(second), first === second], [true, true, false]);
  is("what was there before", plainly(__ENV.TARGET).json().headers.traceparent, undefined);

  const wrong = [{ propagator: "zipkin" }, { propagator: "w3c", sampling: 2 }].map((given) => messageOf(() => new Client(given)));
  is("what is refused", wrong, ["found the propagator 'zipkin', expected w3c or jaeger", "found the sampling 2, expected a number from 0 to 1"]);
}
