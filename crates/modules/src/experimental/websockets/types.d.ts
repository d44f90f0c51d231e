/**
 * The older name of `k6/websockets`: the same classes, with a warning at the import.
 */
export * from "k6/websockets";
