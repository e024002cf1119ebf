import type { RouterContext } from '@koa/router';
import {
  isPlantId,
  type PlantId,
  PlantNotFoundError,
  type ShowPlant,
  type TokenVerifier,
} from '@plant-store/domain';
import type { Operation } from '../request/exchange.js';
import { jsonResponse } from '../request/response.js';

/** One way to write each id, so that a plant has one address. */
const DIGITS = /^(?:0|-?[1-9][0-9]{0,18})$/;

/** The use case, the verifier and the limit of the operation. */
export interface ShowPlantOptions {
  readonly useCase: ShowPlant;
  readonly tokenVerifier: TokenVerifier;
  /** The maximum number of milliseconds from the request to its response. */
  readonly requestDeadlineMs: number;
}

/** Creates the operation `GET /plants/{id}`. The token is verified first. */
export function showPlantOperation(options: ShowPlantOptions): Operation {
  const { useCase, tokenVerifier, requestDeadlineMs } = options;
  return async function showPlantOperation(exchange) {
    const client = await exchange.authenticate(tokenVerifier);
    const { captures } = exchange.ctx as Partial<RouterContext>;
    const id = toPlantId(captures?.[0] ?? '');
    const timeLimitMs = exchange.startedAt + requestDeadlineMs - performance.now();
    return exchange.carryOut(async () =>
      jsonResponse(200, await useCase.execute(client, id, timeLimitMs)),
    );
  };
}

function toPlantId(segment: string): PlantId {
  const id = DIGITS.test(segment) ? BigInt(segment) : undefined;
  if (id !== undefined && isPlantId(id)) return id;
  throw new PlantNotFoundError('this is not an id');
}
