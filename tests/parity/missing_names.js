// parity: console
// A name that a built-in or CommonJS module does not have is undefined, whichever module of the test asks for it.
import http, { nothing, get } from "k6/http";
import { later } from "./lib/asks_for_more.js";
import { answer, question } from "./lib/answer.cjs.js";
import * as answers from "./lib/answer.cjs.js";

export const options = { iterations: 1 };

export default function () {
  console.log(typeof http.get, typeof nothing, typeof get, later, answer, typeof question, answers.answer);
}
