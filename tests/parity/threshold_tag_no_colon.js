// A sub-metric without a colon.
export const options = { thresholds: { "iterations{a}": ["count>0"] } };

export default function () {}
