export {
  type AppDependencies,
  createApp,
  plantStoreRoutes,
  type RoutesOptions,
} from './app.js';
export type { Admit } from './create-plant/create-plant.js';
export {
  type Build,
  type DescriptionOptions,
  openApiDescription,
} from './docs/openapi-description.js';
export { StoppingError } from './health-routes.js';
export { createManagementApp, type ManagementDependencies } from './management-app.js';
export { type Failure, type FailureCode, failures, HttpError } from './request/failures.js';
export type {
  AccessRefusal,
  EndedExchange,
  HttpObserver,
  ServiceFailure,
} from './request/http-observer.js';
export { type Refusal, refuseWith } from './request/refuse.js';
