// parity: console
// parity: env TZ=UTC
// Dates and their texts.
export default function () {
  const date = new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 123));
  console.log(date.toISOString(), date.toJSON(), date.getTime(), date.getDay(), date.getTimezoneOffset());
  console.log(date.toString(), date.toUTCString(), date.toDateString());
  console.log(Date.parse("2024-02-29"), Date.parse("2024-02-29T12:00:00+02:00"), Date.parse("Thu, 29 Feb 2024 12:00:00 GMT"), Date.parse("nonsense"));
  console.log(new Date(2024, 0, 1).getTime(), new Date("2024-01-01T00:00:00").getTime());
}
