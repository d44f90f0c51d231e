// parity: console
// What selections refuse.
import { parseHTML } from "k6/html";

export default function () {
  const doc = parseHTML("<p>x</p>");
  for (const work of [() => parseHTML(), () => parseHTML(5).text(), () => parseHTML(null).text(), () => doc.find().size(), () => doc.find("[").size(), () => doc.find("p").eq(5).text(), () => doc.find("p").get(5), () => doc.find(5).size(), () => doc.find("p").slice(0).size(), () => doc.find("p").attr()]) {
    try {
      console.log(JSON.stringify(work()));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
