import { type Failure, HttpError, failures as ofCreate } from '@plant-store/http-koa';

const LATER = { retryAfter: 1 };

/** The failures that only a service in production has. They are thrown as `HttpError`. */
const own = {
  TOO_MANY_REQUESTS: {
    status: 429,
    error: 4290,
    message: 'too many requests from this client: this one was not carried out',
    ...LATER,
  },
  OVERLOADED: {
    status: 503,
    error: 5032,
    message: 'too many creates are in progress: this one was not carried out',
    ...LATER,
  },
  STOPPING: {
    status: 503,
    error: 5032,
    message: 'the service is stopping: the request was not carried out',
    ...LATER,
  },
} as const satisfies Record<string, Failure>;

/** All failures: those of the specified service, and those of operations. */
export const failures: Readonly<Record<keyof typeof own | keyof typeof ofCreate, Failure>> = {
  ...ofCreate,
  ...own,
};

/** The statuses of all failures. The OpenAPI description has a sentence for each. */
export type FailureStatus =
  | import('@plant-store/http-koa').FailureStatus
  | (typeof own)[keyof typeof own]['status'];

/** The service is stopping and accepts no more requests. */
export class StoppingError extends HttpError {
  constructor() {
    super(own.STOPPING);
  }
}
