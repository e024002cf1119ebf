import type { Client } from '@plant-store/domain';
import type { Middleware } from 'koa';

/** What the steps of the operation hand on to one another. Each names the step that sets it. */
export interface OperationState {
  /** When the request began, on the clock of `performance.now()`. Set by `answerFailures`. */
  startedAt: number;
  /** Set by `authenticate`. */
  client: Client;
  /** The bytes of the body, complete and not decoded. Set by `readBody`. */
  body: Buffer;
  /** When the service has to have answered, on the clock of `performance.now()`. Set by `readBody`. */
  deadline: number;
}

/** A step of the operation. */
export type OperationMiddleware = Middleware<OperationState>;
