export { corsFor } from './cors.js';
export {
  type Build,
  type DescriptionOptions,
  openApiDescription,
} from './docs/openapi-description.js';
export { hostedBody } from './hosted-body.js';
export type { EndedRequest, HttpEvent, HttpObserver } from './http-event.js';
export { type Admit, type Limits, limited } from './limited.js';
export { createManagementApp, type ManagementDependencies } from './management-app.js';
export { observed } from './observed.js';
export { failures, StoppingError } from './operation-failures.js';
export { type OperationsOptions, operationRoutes, type Readiness } from './operation-routes.js';
export {
  plantStoreRoutes,
  type RoutesDependencies,
  type RoutesOptions,
} from './plant-store-routes.js';
export { type Refusal, refuseWith } from './refuse-with.js';
