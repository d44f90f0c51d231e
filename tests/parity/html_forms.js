// parity: console
// Values of forms.
import { parseHTML } from "k6/html";

const page = `<form><input name="t" value="text"><input type="checkbox" name="c" value="on" checked><input type="checkbox" name="d" value="x"><input type="radio" name="r" value="1"><input type="radio" name="r" value="2" checked>
<select name="s"><option value="1">a</option><option value="2" selected>b</option></select><select name="m" multiple><option selected>x</option><option selected>y</option></select><textarea name="a">long
text</textarea><input name="x" disabled value="no"><button name="b" value="v">go</button></form>`;

export default function () {
  const form = parseHTML(page).find("form");
  console.log(form.serialize(), JSON.stringify(form.serializeArray()), Object.entries(form.serializeObject()).sort().join(";"));
  for (const name of ["t", "c", "d", "r", "s", "m", "a", "x", "b"]) {
    console.log(name, JSON.stringify(form.find(`[name=${name}]`).val()));
  }
}
