// parity: console
// Forms that are sent and links that are followed.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const page = http.get(`${__ENV.TARGET}/forms/post`);
  const sent = page.submitForm({ fields: { custname: "somebody" } });
  console.log(sent.status, sent.request.method, Object.entries(sent.json("form")).sort().join(";"));
  const links = http.get(`${__ENV.TARGET}/links/3/0`);
  const followed = links.clickLink();
  console.log(followed.status, followed.url.replace(__ENV.TARGET, ""));
  for (const work of [() => links.clickLink({ selector: "a.missing" }), () => links.submitForm(), () => page.submitForm({ formSelector: "#missing" })]) {
    try {
      console.log(work().status);
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
