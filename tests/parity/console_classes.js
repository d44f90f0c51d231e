// parity: console
// Values of classes, errors, dates, promises, proxies.
class Point {
  #hidden = 1;
  constructor() {
    this.x = 1;
  }
  get y() {
    return 2;
  }
  method() {}
  toString() {
    return "a point";
  }
}

export default function () {
  console.log(new Point());
  console.log([new Point()]);
  console.log(new Error("e"), new TypeError("t"));
  console.log({ error: new Error("inside") });
  console.log([new Date(0)], { d: new Date(NaN) });
  console.log(Promise.resolve(1), new WeakMap(), new Proxy({ a: 1 }, {}));
  console.log(Object.create(null), Object.create({ inherited: 1 }));
  console.log({ get computed() { return 5; }, toJSON() { return "json"; } });
  console.log({ toString() { return "text"; } });
  console.log(Symbol("s").toString(), [Symbol("in list")], { [Symbol("key")]: 1 });
  console.log(function () {}, () => {}, class {}, async () => {}, function* () {});
  console.log([() => 1], { f() {} });
  console.log(Math, JSON, globalThis === undefined);
}
