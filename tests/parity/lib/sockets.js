export * from "k6/websockets";
export * as all from "k6/websockets";
