// TypeScript syntax that only disappears: annotations, interfaces, generics, enums, casts.
import { check } from "k6";
import type { Options } from "k6/options";

enum Colour {
  Red = "red",
  Blue = "blue",
}

interface Box<T> {
  readonly value: T;
  label?: string;
}

abstract class Base {
  constructor(protected readonly name: string, public size = 1) {}
  abstract area(): number;
}

class Square extends Base {
  area(): number {
    return this.size ** 2;
  }
}

export const options: Options = { iterations: 2 };

const box = <T,>(value: T): Box<T> => ({ value, label: "box" });

export default function (): void {
  const square = new Square("s", 3);
  check(box<number>(5), {
    "generics": (b: Box<number>) => b.value === 5,
    "enum": () => Colour.Red === ("red" as Colour),
    "parameter properties": () => square.area() === 9 && (square as any).name === "s",
    "non-null": () => square!.size === 3,
  });
}
