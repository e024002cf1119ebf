import type { failures } from '../request/failures.js';

/** The advice about one error for authors of clients, in Markdown with no markup except `code`. */
export interface FailureGuide {
  readonly meaning: string;
  readonly remedy: string;
  /** How sending the request again helps; `undefined` when it does not. */
  readonly retry?: string;
}

/** The possible values of `error` in a response. */
export type FailureNumber = (typeof failures)[keyof typeof failures]['error'];

const AFTER_A_PAUSE = 'Yes, after `Retry-After`, at most 60 s';

/** The advice for authors of clients, by error number. */
export const failureGuide: Readonly<Record<FailureNumber, FailureGuide>> = {
  4000: {
    meaning:
      'The request is not valid HTTP: its request line, its headers, or the framing of its body.',
    remedy:
      'Correct what sends the request. HTTP/1.1 needs exactly one `Host`. A body needs `Content-Length` or `Transfer-Encoding: chunked`. `Expect` may only be `100-continue`.',
  },
  4001: { meaning: 'The request has no body.', remedy: 'Send a NewPlant as JSON.' },
  4002: {
    meaning: 'The body is not declared as JSON, or it is compressed.',
    remedy: 'Send exactly one `Content-Type: application/json`, and no `Content-Encoding`.',
  },
  4003: {
    meaning: 'The body is larger than the limit: 16 KiB, unless the operator sets `BODY_LIMIT`.',
    remedy: 'Send a shorter `name` or `tag`.',
  },
  4004: {
    meaning: 'The body is not valid JSON. The message names the rule that it breaks.',
    remedy:
      'Write the body with a JSON library. Send UTF-8 without a byte order mark and without lone surrogates. Use each name once in an object, and at most 32 levels.',
  },
  4005: {
    meaning: 'The body is JSON, but not a NewPlant. The message names every field and its rule.',
    remedy:
      'Send `id` as a whole number of 64 bits, and `name` as a string. Send `tag` as a string, or leave it out.',
  },
  4006: {
    meaning: 'A plant with this `id` exists already.',
    remedy:
      'Choose another `id`. After an attempt whose outcome is unknown, the stored plant is yours if no other client uses this `id`.',
  },
  4010: {
    meaning: 'The request has no `Authorization: Bearer` field.',
    remedy: 'Send `Authorization: Bearer <ACCESS_TOKEN>`.',
    retry: 'Yes, with a token',
  },
  4011: {
    meaning: 'The bearer token is malformed, unknown, expired, or not meant for this service.',
    remedy:
      'Get a new token. If it is refused, too, ask the operator: the log of the service has the reason.',
    retry: 'Yes, with another token',
  },
  4030: {
    meaning: 'The token is valid, but does not permit this operation.',
    remedy: 'Get a token with the scope that the operator of the service requires.',
    retry: 'Yes, with another token',
  },
  4040: {
    meaning: 'There is nothing at this path.',
    remedy:
      'Check the address, with the base path if the service has one. `/plants/` and `/Plants` are other paths than `/plants`.',
  },
  4050: {
    meaning: 'This path does not allow this method. The header `Allow` lists the allowed methods.',
    remedy: 'Use `POST`. If you do, a redirect may have changed it to `GET`: correct the address.',
  },
  4080: {
    meaning: 'The headers or the body did not arrive in time. Nothing was stored.',
    remedy: 'Send the whole request without a pause. If you do, the network or a proxy is slow.',
    retry: 'Yes, the same request',
  },
  4310: {
    meaning: 'The request line and the headers are larger than 16 KiB, without separators.',
    remedy: 'Send fewer or shorter headers. Cookies and a long token are the usual reason.',
  },
  5000: {
    meaning: 'The service has a bug. The cause is in its log. The outcome is unknown.',
    remedy: 'Report it to the operator with the `X-Request-Id` of the response.',
  },
  5030: {
    meaning: 'The storage or the keys of the token issuer cannot be reached. Nothing was stored.',
    remedy: 'Wait, and send the request again.',
    retry: AFTER_A_PAUSE,
  },
  5031: {
    meaning: 'The outcome is unknown: the plant may or may not have been stored.',
    remedy:
      'Send the same request again. 200: the plant is stored. 4006: a plant with this `id` is stored, yours if no other client uses this `id`.',
    retry: AFTER_A_PAUSE,
  },
  5032: {
    meaning: 'Too many requests are in flight, or the service is stopping. Nothing was stored.',
    remedy:
      'Wait, and send the request again. If this happens repeatedly, send fewer requests at once.',
    retry: AFTER_A_PAUSE,
  },
};
