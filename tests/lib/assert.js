// What test scripts of modules and extensions share: they import it by its relative path, so that k6 runs them too.
import { check } from "k6";

/** What a call threw; undefined when it threw nothing. */
export function errorOf(action) {
  try {
    action();
  } catch (error) {
    return error;
  }
}

/** `Name: message` of what a call threw; an empty text when it threw nothing. */
export function thrown(action) {
  const error = errorOf(action);
  return error === undefined ? "" : `${error.name}: ${error.message}`;
}

/** The message alone: names of errors differ where k6 throws Go's errors. */
export function messageOf(action) {
  const error = errorOf(action);
  return error === undefined ? "" : String(error.message);
}

/** A check that both values are the same JSON; says in the log what it found. */
export function is(name, found, wanted) {
  const [shown, expected] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (!check(found, { [name]: () => shown === expected })) console.error(`${name}: found ${shown}, expected ${expected}`);
}

/** A check that a call throws, with a message that holds this text. */
export function throws(name, action, text) {
  const message = messageOf(action);
  is(name, message.includes(text) || message, true);
}
