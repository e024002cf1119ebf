import type { NewPlant } from '@plant-store/domain';
import { newPlantParser } from '@plant-store/plant-json';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { isRepeated } from './bearer-token.js';
import { failures, HttpError } from './failures.js';

const parseNewPlant = newPlantParser('the body');

/** RFC 9110 section 8.3.1: with any parameters. */
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;

/** Returns a function that reads the NewPlant in the JSON body of a request, up to a limit in bytes. */
export function newPlantReader(limit: number): (ctx: Context) => Promise<NewPlant> {
  const readJson = bodyParser({
    // `expectJson` has checked the type.
    detectJSON: () => true,
    // One character for each byte, so that `rawBody` has every byte. `latin1` is the same, but decoded in JavaScript.
    encoding: 'binary',
    jsonLimit: `${limit}b`,
    onerror(error: Error & ParserError, ctx) {
      if (error.status === 413) throw tooLarge(limit);
      // The client has gone.
      if (error.type === 'request.aborted') throw new HttpError(failures.MALFORMED_REQUEST);
      if (error.body === undefined) throw error;
      // Not JSON for `JSON.parse`: `parseNewPlant` says why.
      ctx.request.rawBody = error.body;
    },
  });
  return async function readNewPlant(ctx) {
    expectJson(ctx, limit);
    await readJson(ctx, nothingFollows);
    const { rawBody } = ctx.request;
    if (!rawBody) throw new HttpError(failures.BODY_MISSING);
    // Not `request.body`: `JSON.parse` rounds ids.
    return parseNewPlant(rawBody);
  };
}

/** Refuses what koa-bodyparser would decompress, leave alone or wait for. */
function expectJson({ req, request, disableBodyParser }: Context, limit: number): void {
  const { headers } = req;
  if (!JSON_TYPE.test(headers['content-type'] ?? '') || isRepeated(req, 'content-type')) {
    throw new HttpError(failures.MEDIA_TYPE_NOT_SUPPORTED);
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new HttpError(COMPRESSED);
  // koa-bodyparser reads the length as an integer of 32 bits, and not at all if the bytes are in `rawBody`.
  const length = request.rawBody?.length ?? Number(headers['content-length'] ?? 0);
  if (length > limit) throw tooLarge(limit);
  // The connection failed, or the body was invalid, while the body arrived.
  if (req.errored) throw req.errored;
  // The result of another parser would be unusable. Code that turns koa-bodyparser off puts the bytes into `rawBody`.
  const isRead = request.body !== undefined || req.readableDidRead;
  if (isRead && !disableBodyParser) throw new Error(ALREADY_READ);
}

const nothingFollows = async () => undefined;

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

function tooLarge(limit: number): HttpError {
  const message = `the body must have at most ${limit} bytes`;
  return new HttpError({ ...failures.BODY_TOO_LARGE, message });
}
