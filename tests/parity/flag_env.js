// parity: args -e A=1 -e B=two=2 --env C= -e D
// parity: console
// Variables by flags: with an equals sign, empty, and from the environment.
// parity: env D=of the environment
export default function () {
  console.log(__ENV.A, __ENV.B, JSON.stringify(__ENV.C), __ENV.D);
}
