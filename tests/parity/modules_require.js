// parity: console
// require() of files, of modules, of what is not there.
const http = require("k6/http");
const { check } = require("k6");
const counted = require("./lib/counted.js");

if (__VU === 0) {
  for (const name of ["./lib/nothing.js", "fs", "", 5]) {
    try {
      require(name);
      console.log("found", name);
    } catch (error) {
      console.log(String(name), error.name);
    }
  }
}

exports.options = { iterations: 1 };

exports.default = function () {
  console.log(typeof http.get, typeof check, counted.count(), typeof http.default);
  try {
    require("k6/http");
  } catch (error) {
    console.log(error.name, error.message);
  }
};
