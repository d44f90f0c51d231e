import http from 'k6/http';

export const options = { insecureSkipTLSVerify: true };

export default function () {
  http.get(__ENV.URL);
}
