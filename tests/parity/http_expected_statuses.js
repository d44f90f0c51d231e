// parity: console
// What counts as expected.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const get = (status, params) => http.get(`${__ENV.TARGET}/status/${status}`, params);
  get(404);
  http.setResponseCallback(http.expectedStatuses(404, { min: 500, max: 503 }));
  get(404);
  get(501);
  get(200);
  get(200, { responseCallback: http.expectedStatuses(200) });
  http.setResponseCallback(null);
  get(200);
  get(404, { responseCallback: http.expectedStatuses(200) });
  for (const wrong of [[], ["200"], [{ min: 1 }], [{ min: 300, max: 200 }], [null], [1.5]]) {
    try {
      http.expectedStatuses(...wrong);
      console.log("taken", JSON.stringify(wrong));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
  try {
    http.setResponseCallback("text");
  } catch (error) {
    console.log(error.name, error.message);
  }
}
