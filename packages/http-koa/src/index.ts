export type { FailureReport } from './answer-failures.js';
export { type AppDependencies, type AppOptions, createApp } from './app.js';
export { type Failure, type FailureCode, failures, HttpError } from './failures.js';
export { interfaceDescription } from './interface-description.js';
export { createServer, type ServerOptions } from './server.js';
