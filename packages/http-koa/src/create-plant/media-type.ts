import type { IncomingMessage } from 'node:http';
import { HttpError } from '../frame/failures.js';
import { fieldValues, withoutSpace } from '../frame/header-fields.js';

/** RFC 9110 section 8.3.1. */
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;

/** Checks that the body is `application/json`, with any parameters, and not compressed. @throws {HttpError} */
export function checkMediaType(request: IncomingMessage): void {
  const [type = '', another] = fieldValues(request, 'content-type');
  if (another !== undefined || !JSON_TYPE.test(type)) {
    throw new HttpError('MEDIA_TYPE_NOT_SUPPORTED');
  }
  for (const coding of fieldValues(request, 'content-encoding')) {
    if (withoutSpace(coding).toLowerCase() !== 'identity') {
      throw new HttpError(
        'MEDIA_TYPE_NOT_SUPPORTED',
        'the body must not be compressed: send it without Content-Encoding',
      );
    }
  }
}
