// A module that nobody uses after its import.
import { browser } from "k6/browser";

export const options = { iterations: 1 };

export default function () {
  typeof browser;
}
