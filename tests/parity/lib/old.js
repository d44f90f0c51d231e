// CommonJS, for commonjs.js.
var counter = 0;
exports.next = function () {
  return ++counter;
};
exports.name = "old";
module.exports.late = true;
return;
