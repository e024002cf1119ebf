export { type Browser, launchChromium } from './chromium.js';
export { findProgram } from './find-program.js';
export { ServerProcess } from './server-process.js';
export { type MochaContext, needsProgram, skipWithout } from './skip-without.js';
export { slowPackage } from './slow-package.js';
