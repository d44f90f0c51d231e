// A check in init code.
import { check } from "k6";

check(1, { never: true });

export default function () {}
