import type { IncomingMessage } from 'node:http';
import { HttpError } from '../frame/failures.js';
import { fieldValues, withoutSpace } from '../frame/header-fields.js';

/** Only `application/json`, whatever its parameters are, and not compressed. */
export function checkMediaType(request: IncomingMessage): void {
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
}
