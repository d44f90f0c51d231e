// An ES module, for imports.js and commonjs.js.
export const value = "new";
export default function greet(name) {
  return `hello ${name}`;
}
export { value as alias };
