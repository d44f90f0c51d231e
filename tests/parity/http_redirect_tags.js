// Tags of the hops: a name, a tag, a callback.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  http.get(`${__ENV.TARGET}/redirect/1`, { tags: { name: "named", own: "1" }, responseCallback: http.expectedStatuses(200) });
  http.get(http.url`${__ENV.TARGET}/redirect/${1}`);
}
