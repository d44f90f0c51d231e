import http from 'k6/http';
import { FileStream } from 'onrush/fs';

const body = new FileStream(__ENV.FILE);
const params = { headers: { 'Content-Type': 'application/octet-stream' } };

export default function () {
  http.post(`${__ENV.URL}upload`, body, params);
}
