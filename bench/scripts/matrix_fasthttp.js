// matrix_get.js in the spelling of the extension xk6-fasthttp.
import { Client, Request } from 'k6/x/fasthttp';

const client = new Client({ max_conns_per_host: 1 });
const request = new Request(`${__ENV.BASE}/bytes/100`);

export default function () {
  client.get(request);
}
