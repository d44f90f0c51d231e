// post_check.js in the spelling of the extension xk6-fasthttp: its README's experiment.
import { Client, Request, checkstatus } from 'k6/x/fasthttp';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

const client = new Client({ max_conns_per_host: 1, tls_config: { insecure_skip_verify: true } });
const request = new Request(__ENV.URL);

export default function () {
  checkstatus(200, client.post(request));
}
