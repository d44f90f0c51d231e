// Each iteration throws: exit code 0.
export const options = { iterations: 3 };

export default function () {
  null.missing;
}
