import type { IncomingMessage } from 'node:http';
import { type CreatePlant, OutcomeUnknownError, type TokenVerifier } from '@plant-store/domain';
import { newPlantReader } from '@plant-store/plant-json';
import { HttpError } from '../frame/failures.js';
import { bearerToken, fieldValues } from '../frame/header-fields.js';
import type { InFlight } from '../frame/in-flight.js';
import type { Handler } from '../frame/respond.js';
import { plantResponse } from '../frame/response.js';
import { BodyReader } from './body.js';

/** The use case, the verifier and the limits of the operation. */
export interface CreatePlantOptions {
  readonly useCase: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  readonly inFlight: InFlight;
  /** The largest body in bytes. */
  readonly bodyLimit: number;
  /** The most milliseconds from the last byte of a request to its response. */
  readonly requestDeadlineMs: number;
}

const readNewPlant = newPlantReader('the body');

/**
 * Creates the middleware of the operation. It stops at the first check that fails. It checks the credentials before it
 * reads the body, the load before it parses the body, and everything before it stores the plant.
 *
 * Source: docs/specification.md, "Create a plant".
 */
export function createPlant(options: CreatePlantOptions): Handler {
  const { useCase, tokenVerifier, inFlight, requestDeadlineMs } = options;
  const bodies = new BodyReader(options.bodyLimit);

  return async function createPlant(ctx) {
    const state = ctx.plantStore;
    const client = await tokenVerifier.verify(bearerToken(ctx.req));
    state.client = client.name;
    checkMediaType(ctx.req);
    const hasArrived = ctx.req.complete;
    const body = hasArrived ? bodies.take(ctx) : await bodies.receive(ctx);
    const deadline = (hasArrived ? state.startedAt : performance.now()) + requestDeadlineMs;
    // Other middleware may have responded in the meantime, for example after a time limit of its own.
    if (state.isOver || ctx.headerSent) return;
    inFlight.begin();
    try {
      const newPlant = readNewPlant(body);
      state.mayBeStored = true;
      const plant = await useCase.execute(client, newPlant, deadline - performance.now());
      state.response = plantResponse(plant);
    } catch (error) {
      state.mayBeStored = error instanceof OutcomeUnknownError;
      throw error;
    } finally {
      inFlight.end();
    }
  };
}

/** RFC 9110 section 8.3.1. */
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;

/** Checks that the body is `application/json`, with any parameters, and not compressed. @throws {HttpError} */
function checkMediaType(request: IncomingMessage): void {
  const [type = '', another] = fieldValues(request, 'content-type');
  if (another !== undefined || !JSON_TYPE.test(type)) {
    throw new HttpError('MEDIA_TYPE_NOT_SUPPORTED');
  }
  for (const coding of fieldValues(request, 'content-encoding')) {
    if (coding.toLowerCase() !== 'identity') {
      throw new HttpError(
        'MEDIA_TYPE_NOT_SUPPORTED',
        'the body must not be compressed: send it without Content-Encoding',
      );
    }
  }
}
