import type { failures } from '../frame/failures.js';

/** What a failure is to the author of a client. In Markdown, without markup but `code`. */
export interface FailureGuide {
  readonly meaning: string;
  readonly remedy: string;
  /** Whether sending the request again helps. */
  readonly retry: string;
}

/** The numbers that `error` can have in a response. */
export type FailureNumber = (typeof failures)[keyof typeof failures]['error'];

const NO = 'No';
const AS_IT_IS = 'Yes, the same request';
const AFTER_A_PAUSE = 'Yes, after the seconds in `Retry-After`';

/** What every number means to the author of a client. */
export const failureGuide: Readonly<Record<FailureNumber, FailureGuide>> = {
  4000: {
    meaning:
      'The request is not valid HTTP: its first line, its headers, or the framing of its body.',
    remedy:
      'Correct what sends it. HTTP/1.1 needs exactly one `Host`; a body needs `Content-Length` or `Transfer-Encoding: chunked`; `Expect` may only be `100-continue`.',
    retry: NO,
  },
  4001: {
    meaning: 'The request has no body.',
    remedy: 'Send a NewPlant as JSON.',
    retry: NO,
  },
  4002: {
    meaning: 'The body is not declared as JSON, or it is compressed.',
    remedy: 'Send exactly one `Content-Type: application/json`, and no `Content-Encoding`.',
    retry: NO,
  },
  4003: {
    meaning:
      'The body is larger than the service takes: 16 KiB, unless it is configured otherwise.',
    remedy: 'Send a smaller plant.',
    retry: NO,
  },
  4004: {
    meaning: 'The body is not valid JSON. The message names the rule it breaks.',
    remedy:
      'Let a JSON library write the body, in UTF-8 without a byte order mark, with every name once in an object and at most 32 levels deep.',
    retry: NO,
  },
  4005: {
    meaning: 'The body is JSON, but not a NewPlant. The message names every field and its rule.',
    remedy:
      'Send `id` as a whole number of 64 bits, `name` as a string, and `tag` as a string or not at all.',
    retry: NO,
  },
  4006: {
    meaning: 'A plant with this `id` exists already.',
    remedy:
      'Choose another `id`. After a 5031, or a response that never arrived, it usually means that the first attempt has stored the plant.',
    retry: NO,
  },
  4010: {
    meaning: 'The request carries no bearer token.',
    remedy: 'Send `Authorization: Bearer <ACCESS_TOKEN>`.',
    retry: 'Yes, with a token',
  },
  4011: {
    meaning: 'The bearer token is malformed, unknown, expired, or not meant for this service.',
    remedy: 'Obtain a new token. The log of the service has the reason.',
    retry: 'Yes, with another token',
  },
  4030: {
    meaning: 'The token is valid, but does not permit this operation.',
    remedy: 'Obtain a token with the scope that the operator of the service asks for.',
    retry: 'Yes, with another token',
  },
  4040: {
    meaning: 'There is nothing at this path.',
    remedy:
      'Compare the path byte by byte: `/plants/` and `/Plants` are other paths than `/plants`, and a base path may precede it.',
    retry: NO,
  },
  4050: {
    meaning: 'The path exists, but not for this method. The header `Allow` lists the allowed ones.',
    remedy: 'Use `POST`. A redirect on the way may have turned it into a `GET`.',
    retry: NO,
  },
  4080: {
    meaning: 'The headers or the body did not arrive in time. Nothing was stored.',
    remedy: 'Send the whole request at once, or look for what is slow on the way.',
    retry: AS_IT_IS,
  },
  4310: {
    meaning: 'The first line and the headers are larger than 16 KiB, or more than 1,000 fields.',
    remedy: 'Send fewer or shorter headers. Cookies and a long token are the usual reason.',
    retry: NO,
  },
  5000: {
    meaning: 'The service has a bug. The cause is in its log.',
    remedy: 'Report it to the operator with the `X-Request-Id` of the response.',
    retry: NO,
  },
  5030: {
    meaning: 'The storage, or what verifies tokens, cannot be reached. Nothing was stored.',
    remedy: 'Wait, and send the request again.',
    retry: AFTER_A_PAUSE,
  },
  5031: {
    meaning: 'The outcome is unknown: the plant may or may not have been stored.',
    remedy:
      'Send the same request again. 200: it is stored now. 4006: it was stored before, by the first attempt if no other client uses this `id`.',
    retry: AFTER_A_PAUSE,
  },
  5032: {
    meaning: 'Too many requests are in flight, or the service is stopping. Nothing was stored.',
    remedy: 'Wait, and send the request again, less often if it happens repeatedly.',
    retry: AFTER_A_PAUSE,
  },
};
