// A cipher suite that is none.
export const options = { tlsCipherSuites: ["TLS_NONE"] };

export default function () {}
