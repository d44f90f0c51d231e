// parity: command inspect
// A script that throws.
throw new Error("in init");
