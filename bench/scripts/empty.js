// Nothing: what starting and ending cost.
import { handleSummary } from './summary.js';

export const options = { vus: 1, iterations: 1 };
export { handleSummary };

export default function () {}
