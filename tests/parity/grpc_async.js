// parity: console
// Calls of gRPC as promises, and health.
import { Client } from "k6/net/grpc";
import grpc from "k6/net/grpc";

const client = new Client();

export const options = { iterations: 1 };

export default async function () {
  client.connect(__ENV.TARGET.slice(7), { plaintext: true, reflect: true });
  const response = await client.asyncInvoke("onrush.test.v1.Target/Echo", { aString: "x" });
  console.log(response.status, response.message.aString);
  const health = client.healthCheck();
  console.log(health.status, JSON.stringify(health.message), health.message.status === grpc.HealthCheckServing);
  const missing = client.healthCheck("missing");
  console.log(missing.status, JSON.stringify(missing.error));
  client.close();
}
