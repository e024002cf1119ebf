export { bearerToken } from './bearer-token.js';
export {
  type AppOptions,
  BASE_PATH,
  createApp,
  plantRouter,
  type RouteOptions,
} from './create-app.js';
export type { CreateLimits, CreateState, CreatesPlants } from './create-plant.js';
export {
  type Failure,
  type FailureCode,
  type FailureStatus,
  failures,
  HttpError,
} from './failures.js';
export { expectPositiveInteger } from './options.js';
export {
  allowOnly,
  type FailureState,
  pathNotFound,
  respondToFailures,
  respondWith,
  toFailure,
} from './respond-to-failures.js';
export { respondWithJson } from './respond-with-json.js';
