export { type AppDependencies, type AppOptions, createApp } from './app.js';
export { type Failure, type FailureCode, failures, HttpError } from './failures.js';
export type { Exchange, HttpObserver, OwnFailure } from './http-observer.js';
export { interfaceDescription } from './interface-description.js';
export { createManagementApp, type ManagementDependencies } from './management-app.js';
export { createServer, type DrainableServer, type ServerOptions } from './server.js';
