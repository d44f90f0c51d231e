// Kinds of errors, thrown from functions of modules and of the script.
import { fail } from "k6";
import http from "k6/http";
import { b64decode } from "k6/encoding";

export const options = { iterations: 8 };

class Own extends Error {
  constructor(message) {
    super(message);
    this.name = "Own";
  }
}

export default function () {
  switch (__ITER) {
    case 0:
      fail("failed");
      break;
    case 1:
      http.get("http://127.0.0.1:1/", { throw: true });
      break;
    case 2:
      throw new Own("own");
    case 3:
      b64decode("***");
      break;
    case 4:
      JSON.parse("{");
      break;
    case 5:
      undefined_name;
      break;
    case 6:
      new Array(-1);
      break;
    case 7:
      decodeURIComponent("%");
  }
}
