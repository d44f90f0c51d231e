// A small GET, for clients.toml: BASE says where, flags say how many users and how long.
import http from 'k6/http';

export const options = { discardResponseBodies: true };

export default function () {
  http.get(`${__ENV.BASE}/bytes/100`);
}
