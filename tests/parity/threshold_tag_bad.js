// A sub-metric without an end.
export const options = { thresholds: { "iterations{a:1": ["count>0"] } };

export default function () {}
