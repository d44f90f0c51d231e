// parity: console
// TypeScript: types, enums, generics, parameters that are fields.
import http from "k6/http";

enum Color {
  Red,
  Green = 5,
}

interface Named {
  name: string;
}

class Thing<T extends Named> {
  constructor(private readonly inner: T, public count = 1) {}
  get text(): string {
    return `${this.inner.name} ${this.count}`;
  }
}

export const options: { iterations: number } = { iterations: 1 };

export default function (): void {
  const thing = new Thing<Named>({ name: "x" } as Named);
  console.log(thing.text, Color.Green, Color[0], (typeof http.get satisfies string)!);
}
