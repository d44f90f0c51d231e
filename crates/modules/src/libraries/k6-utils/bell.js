// Stages along the bell curve.

/**
 * Stages whose targets follow the normal distribution from -2 to 2 standard deviations, the peak at `maxVus`. The first
 * and the last stage take a sixth of the time each. Durations are whole seconds, rounded up, so that the sum is more.
 */
function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const density = (deviations) => Math.exp(-0.5 * deviations ** 2) / Math.sqrt(2 * Math.PI);
  const heights = new Array(numberOfStages + 2).fill(0);
  const seconds = heights.map(() => Math.ceil(durationSeconds / 6));
  const each = Math.ceil((4 * durationSeconds) / (6 * numberOfStages));
  for (let at = 0; at <= numberOfStages; at += 1) heights[at] = density((4 * at) / numberOfStages - 2);
  for (let at = 1; at <= numberOfStages; at += 1) seconds[at] = each;
  const peak = Math.max(...heights);
  const targets = heights.map((height) => Math.round((height * maxVus) / peak));
  const stages = [];
  for (let at = 0; at <= numberOfStages + 1; at += 1) stages.push({ duration: `${seconds[at]}s`, target: targets[at] });
  return stages;
}
