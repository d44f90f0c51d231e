// onrush/http is k6/http and more.
import { check } from "k6";
import plain from "k6/http";
import http, { FormData, file, post, useTLS } from "onrush/http";

export const options = { thresholds: { checks: ["rate==1"] } };

function text(form) {
  return String.fromCharCode(...new Uint8Array(form.body())).split(form.boundary).join("B");
}

export default function () {
  check(null, {
    "everything of k6/http": () => Object.keys(plain).every((name) => http[name] === plain[name]) && post === plain.post,
    "useTLS on top": () => http.useTLS === useTLS && plain.useTLS === undefined && useTLS({}) === undefined,
    "what is no pair is refused": () => {
      try {
        useTLS({ tlsAuth: { cert: "c", key: "k" } });
      } catch (error) {
        return String(error).includes("tlsAuth: found no certificate in `cert`");
      }
    },
    "FormData on top": () => http.FormData === FormData && plain.FormData === undefined && globalThis.FormData === undefined,
    "text is UTF-8 and has no type": () => {
      const form = new FormData();
      form.append("\u00e9", "\u00fc\u20ac");
      const expected = '--B\r\nContent-Disposition: form-data; name="\xc3\xa9"\r\n\r\n\xc3\xbc\xe2\x82\xac\r\n--B--\r\n';
      return text(form) === expected;
    },
    "files": () => {
      const form = new FormData();
      form.append("f", file("abc", "\u00fc.txt", "text/plain"));
      const head = 'form-data; name="f"; filename="\xc3\xbc.txt"\r\nContent-Type: text/plain';
      return text(form) === `--B\r\nContent-Disposition: ${head}\r\n\r\nabc\r\n--B--\r\n`;
    },
    "text with a file name": () => {
      const form = new FormData();
      form.set("f", "abc", "a.txt");
      return text(form).includes('filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nabc');
    },
  });
}
