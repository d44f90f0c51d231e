// parity: skip k6 has a browser
// The module can be imported; using it says that there is no browser.
import { check } from "k6";
import { browser, chromium, devices, networkProfiles } from "k6/browser";

export const options = { thresholds: { checks: ["rate==1"] } };

const calls = {
  "browser": () => browser.newPage(),
  "chromium": () => chromium.connectOverCDP("ws://localhost"),
  "devices": () => devices["iPhone X"],
  "networkProfiles": () => networkProfiles["Slow 3G"],
};

export default async function () {
  for (const [name, call] of Object.entries(calls)) {
    let message = "";
    try {
      await call();
    } catch (error) {
      message = error.message;
    }
    check(message, { [name]: (m) => m.startsWith(`${name} of k6/browser is not offered, because Onrush has no browser;`) });
  }
}
