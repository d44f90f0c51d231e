// Asks for names of modules that were imported before it.
import { head, nothingEither } from "k6/http";
import { more } from "./answer.cjs.js";

export const later = `${typeof head} ${typeof nothingEither} ${typeof more}`;
