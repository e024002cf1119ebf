// With `require`, because instrumentation that is preloaded with `--import` alone patches no imported modules. In a CommonJS
// module, because only there every bundler finds it.
module.exports = require('koa');
