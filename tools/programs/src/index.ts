export { findProgram } from './find-program.js';
export { freePort, ServerProcess } from './server-process.js';
export { type MochaContext, skipWithout } from './skip-without.js';
