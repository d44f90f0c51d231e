//! Summaries of a run: text as k6 lays it out, JSON exports, the data of handleSummary.
