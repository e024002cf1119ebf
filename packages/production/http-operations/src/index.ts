export { withCors } from './cors.js';
export {
  type Build,
  type DescriptionOptions,
  openApiDescription,
} from './docs/openapi-description.js';
export { hostedBody } from './hosted-body.js';
export type {
  AccessRefusal,
  EndedExchange,
  HttpObserver,
  ServiceFailure,
} from './http-observer.js';
export { type Admit, type Limits, limited } from './limited.js';
export { createManagementApp, type ManagementDependencies } from './management-app.js';
export {
  type Operations,
  type OperationsOptions,
  operatedApp,
  plantStoreRoutes,
  type RoutesDependencies,
  type RoutesOptions,
} from './operated-app.js';
export { failures, StoppingError } from './operation-failures.js';
export { type Refusal, refuseWith } from './refuse.js';
