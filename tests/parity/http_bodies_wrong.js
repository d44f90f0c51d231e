// parity: console
// Bodies that are none.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const body of [5, true, [1, 2], () => 1, new Date(0), new Map([["a", 1]])]) {
    try {
      const response = http.post(`${__ENV.TARGET}/post`, body);
      console.log(typeof body, response.status, JSON.stringify(response.json("data")), JSON.stringify(response.json("form")));
    } catch (error) {
      console.log(typeof body, error.name, error.message);
    }
  }
}
