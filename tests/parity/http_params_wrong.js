// parity: console
// Params that are wrong.
import http from "k6/http";

export const options = { iterations: 1 };

const url = `${__ENV.TARGET}/`;
const tried = (params) => {
  try {
    console.log(http.get(url, params).status);
  } catch (error) {
    console.log(error.name, error.message);
  }
};

export default function () {
  tried(5);
  tried("text");
  tried(null);
  tried(undefined);
  tried([]);
  tried({ unknown: 1 });
  tried({ timeout: "long" });
  tried({ timeout: -1 });
  tried({ timeout: {} });
  tried({ redirects: "two" });
  tried({ responseType: "json" });
  tried({ responseType: 5 });
  tried({ auth: "unknown" });
  tried({ tags: "text" });
  tried({ tags: { a: { b: 1 } } });
  tried({ tags: { a: null } });
  tried({ headers: "text" });
  tried({ headers: { a: { b: 1 } } });
  tried({ headers: { a: null, b: undefined } });
  tried({ cookies: "text" });
  tried({ cookies: { a: 5 } });
  tried({ cookies: { a: { value: "b", replace: true } } });
  tried({ jar: 5 });
  tried({ jar: null });
  tried({ compression: "unknown" });
  tried({ responseCallback: 5 });
  tried({ responseCallback: null });
}
