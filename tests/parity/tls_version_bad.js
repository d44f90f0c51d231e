// A version of TLS that is none.
export const options = { tlsVersion: "tls9" };

export default function () {}
