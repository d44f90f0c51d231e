// parity: console
// Addresses with a name of their own.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const url = http.url`${__ENV.TARGET}/anything/${5}/x?y=${"z"}`;
  console.log(url.name.replace(__ENV.TARGET, ""), url.url.replace(__ENV.TARGET, ""), url.clean_url.replace(__ENV.TARGET, ""));
  http.get(url);
  http.get(url, { tags: { name: "own" } });
  http.post(http.url`${__ENV.TARGET}/post`, "x");
  console.log(String(url), typeof url);
}
