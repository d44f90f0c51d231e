// Names of sub-metrics in several forms.
import { Counter } from "k6/metrics";

const counter = new Counter("things");

export const options = {
  iterations: 1,
  thresholds: {
    "things{a:1}": ["count==1"],
    "things{a:1,b:2}": ["count==1"],
    "things{ a : 1 }": ["count==1"],
    "things{c:x y}": ["count==2"],
    'things{d:"quoted"}': ["count==4"],
    "things{missing:}": ["count==0"],
    "things{url:http://a.test/?b=c}": ["count==8"],
  },
};

export default function () {
  counter.add(1, { a: "1", b: "2" });
  counter.add(2, { c: "x y" });
  counter.add(4, { d: "quoted" });
  counter.add(8, { url: "http://a.test/?b=c" });
}
