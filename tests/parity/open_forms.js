// parity: console
// open() of JSON, bytes, wrong arguments.
const numbers = JSON.parse(open("./lib/numbers.json"));
if (__VU === 0) {
  for (const args of [["./lib"], [""], [], [5], ["./lib/numbers.json", "x"], ["/not/there"], ["./lib/numbers.json", "b", 3]]) {
    try {
      const content = open(...args);
      console.log(typeof content, content.length || content.byteLength);
    } catch (error) {
      console.log(error.name, error.message.replace(/\/[^\s"']*\//g, "DIR/"));
    }
  }
}

export default function () {
  console.log(numbers.join());
}
