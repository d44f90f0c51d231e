// Secrets without a source. Those with one: crates/cli/tests/cli/secrets.rs. Runs under k6 as well.
import { check } from "k6";
import secrets from "k6/secrets";

export const options = { thresholds: { checks: ["rate==1"] } };

export default async function () {
  const refusal = await secrets.get("token").then(() => "", (error) => String(error));
  check(secrets, {
    "members": (s) => Object.keys(s).join() === "get,source",
    "no source": () => refusal.includes("no secret sources are configured"),
  });
}
