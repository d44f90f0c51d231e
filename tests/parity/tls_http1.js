// parity: env GODEBUG=http2client=0
// Over TLS without HTTP/2, as the environment asks.
import { options as common, requests } from "./lib/over_tls.js";

export const options = common("HTTP/1.1", "HTTP/2.0");

export default function () {
  requests("HTTP/1.1");
}
