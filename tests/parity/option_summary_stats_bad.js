// A statistic that is none.
export const options = { summaryTrendStats: ["avg", "p(101)"] };

export default function () {}
