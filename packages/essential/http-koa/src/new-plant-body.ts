import { newPlantParser } from '@plant-store/plant-json';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { isRepeated } from './bearer-token.js';
import { failures, HttpError } from './failures.js';

const parseNewPlant = newPlantParser('the body');

/** RFC 9110 section 8.3.1: with any parameters. */
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;

/** Puts the NewPlant of a JSON body into `ctx.request.body`. */
export function readNewPlant(limit: number): readonly Middleware[] {
  const tooLarge = {
    ...failures.BODY_TOO_LARGE,
    message: `the body must have at most ${limit} bytes`,
  };

  /** koa-bodyparser would decompress a body, and leave one of another type alone. */
  const refuseOtherBodies: Middleware = ({ req, request, disableBodyParser }, next) => {
    const { headers } = req;
    if (!JSON_TYPE.test(headers['content-type'] ?? '') || isRepeated(req, 'content-type')) {
      throw new HttpError(failures.MEDIA_TYPE_NOT_SUPPORTED);
    }
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new HttpError(COMPRESSED);
    // koa-bodyparser reads the length as an integer of 32 bits.
    if (Number(headers['content-length'] ?? 0) > limit) throw new HttpError(tooLarge);
    // The rest of the body was invalid.
    if (req.errored) throw req.errored;
    // Its result would be unusable, since `JSON.parse` rounds ids. Who turns koa-bodyparser off leaves the bytes in `rawBody`.
    const isRead = request.body !== undefined || req.readableDidRead;
    if (isRead && !disableBodyParser) throw new Error(ALREADY_READ);
    return next();
  };

  const parseBody = bodyParser({
    enableTypes: ['json'],
    // `refuseOtherBodies` has checked the type.
    detectJSON: () => true,
    // One character for each byte, so that `rawBody` has every byte of the body.
    encoding: 'latin1',
    jsonLimit: `${limit}b`,
    onerror(error: Error & ParserError, ctx) {
      if (error.status === 413) throw new HttpError(tooLarge);
      // The client has gone.
      if (error.type === 'request.aborted') throw new HttpError(failures.MALFORMED_REQUEST);
      if (error.body === undefined) throw error;
      // Not JSON for `JSON.parse`: `exactNewPlant` says why.
      ctx.request.rawBody = error.body;
    },
  });
  return [refuseOtherBodies, parseBody, exactNewPlant];
}

/** What errors of koa-bodyparser have. `body` is the text of a body that is not JSON. */
interface ParserError {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string;
}

const COMPRESSED = {
  ...failures.MEDIA_TYPE_NOT_SUPPORTED,
  message: 'the body must not be compressed: send it without Content-Encoding',
};

const ALREADY_READ =
  'another body parser has read the body before the plant store: register it after these routes, or turn it off for their paths';

/** Replaces the parsed body, whose id is rounded, by the NewPlant in the same bytes. */
const exactNewPlant: Middleware = ({ request }: Context, next) => {
  const { rawBody } = request;
  if (!rawBody) throw new HttpError(failures.BODY_MISSING);
  request.body = parseNewPlant(Buffer.from(rawBody, 'latin1'));
  return next();
};
