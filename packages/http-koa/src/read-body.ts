import type { IncomingMessage } from 'node:http';
import bodyParser from 'koa-bodyparser';
import { refuseBroken } from './broken-request.js';
import { sendContinue } from './expect-continue.js';
import { HttpError } from './failures.js';
import { announcesBody, fieldValues, withoutSpace } from './header-fields.js';
import type { OperationMiddleware } from './operation.js';

/**
 * Reads the body, complete and unchanged.
 *
 * @param limit Bytes it may have at most.
 * @param timeLimit Milliseconds from its last byte until the service has to have answered.
 */
export function readBody(limit: number, timeLimit: number): OperationMiddleware {
  const readBytes = bytesReader(limit);
  return async function readBody(ctx, next) {
    const { req, res } = ctx;
    checkMediaType(req);
    if (!announcesBody(req)) throw new HttpError('BODY_MISSING');
    if (Number(req.headers['content-length'] ?? 0) > limit) throw new HttpError('BODY_TOO_LARGE');
    refuseBroken(req);
    sendContinue(req, res);
    const arrivedAt = req.complete ? ctx.state.startedAt : undefined;
    await readBytes(ctx, async () => {});
    ctx.state.body = ctx.request.body as Buffer;
    ctx.state.deadline = (arrivedAt ?? performance.now()) + timeLimit;
    if (ctx.state.body.length === 0) throw new HttpError('BODY_MISSING');
    await next();
  };
}

/** Only `application/json`, whatever its parameters are, and not compressed. */
function checkMediaType(request: IncomingMessage): void {
  const [type = '', another] = fieldValues(request, 'content-type');
  const essence = withoutSpace(type.split(';', 1)[0] ?? '').toLowerCase();
  if (another !== undefined || essence !== 'application/json') {
    throw new HttpError('MEDIA_TYPE_NOT_SUPPORTED');
  }
  for (const coding of fieldValues(request, 'content-encoding')) {
    if (withoutSpace(coding).toLowerCase() !== 'identity') {
      throw new HttpError(
        'MEDIA_TYPE_NOT_SUPPORTED',
        'the body must be sent without a content coding',
      );
    }
  }
  // koa-bodyparser reads nothing at all behind parameters that it cannot parse.
  request.headers['content-type'] = 'application/json';
  delete request.headers['content-encoding'];
}

/**
 * koa-bodyparser as far as it can keep the contract: it applies the limit and hands over the
 * bytes. Its JSON mode would round numbers, merge doubled names and replace invalid UTF-8.
 */
function bytesReader(limit: number) {
  const options = {
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
    encoding: null, // not in its types: no decoding, a Buffer
    textLimit: limit,
    onerror(error: Error) {
      if (error instanceof HttpError) throw error;
      const tooLarge = 'type' in error && error.type === 'entity.too.large';
      throw new HttpError(tooLarge ? 'BODY_TOO_LARGE' : 'MALFORMED_REQUEST');
    },
  };
  return bodyParser(options as unknown as bodyParser.Options);
}
