import { expect } from 'chai';
import { failures, HttpError, toFailure } from '../../src/frame/failures.js';
import { StoppingError } from '../../src/health.js';

const [closes, ours, retryAfter] = [true, true, 1];
const challenge = 'Bearer realm="plant-store"';

describe('The failures', () => {
  it('are stable across releases', () => {
    expect(failures).to.deep.include({
      MALFORMED_REQUEST: {
        ...{ error: 4000, status: 400, closes },
        message: 'the request is not valid HTTP/1.1 (RFC 9112)',
      },
      BODY_MISSING: {
        ...{ error: 4001, status: 400 },
        message: 'the body is missing: send a NewPlant as JSON',
      },
      MEDIA_TYPE_NOT_SUPPORTED: {
        ...{ error: 4002, status: 400 },
        message: 'Content-Type must be application/json, in one header',
      },
      BODY_TOO_LARGE: {
        ...{ error: 4003, status: 400 },
        message: 'the body is larger than the limit',
      },
      INVALID_JSON: {
        ...{ error: 4004, status: 400 },
        message: 'the body is not valid JSON',
      },
      INVALID_NEW_PLANT: {
        ...{ error: 4005, status: 400 },
        message: 'the body is not a NewPlant',
      },
      PLANT_ID_TAKEN: {
        ...{ error: 4006, status: 400 },
        message: 'id is taken: a plant with this id exists',
      },
      CREDENTIALS_MISSING: {
        ...{ error: 4010, status: 401, challenge },
        message: 'the bearer token is missing: send Authorization: Bearer <ACCESS_TOKEN>',
      },
      INVALID_TOKEN: {
        ...{ error: 4011, status: 401, challenge: `${challenge}, error="invalid_token"` },
        message: 'the bearer token is malformed, unknown, expired, or not meant for this service',
      },
      PERMISSION_DENIED: {
        ...{ error: 4030, status: 403, challenge: `${challenge}, error="insufficient_scope"` },
        message: 'the bearer token does not permit this operation',
      },
      PATH_NOT_FOUND: {
        ...{ error: 4040, status: 404 },
        message: 'there is nothing at this path',
      },
      METHOD_NOT_ALLOWED: {
        ...{ error: 4050, status: 405 },
        message: 'this method is not allowed here: the header Allow lists the allowed methods',
      },
      REQUEST_TIMEOUT: {
        ...{ error: 4080, status: 408, closes },
        message: 'the request did not arrive in time',
      },
      HEADERS_TOO_LARGE: {
        ...{ error: 4310, status: 431, closes },
        message: 'the request line and headers must have at most 16 KiB, and 1,000 headers',
      },
      INTERNAL: { error: 5000, status: 500, ours, message: 'internal error' },
      STORAGE_UNAVAILABLE: {
        ...{ error: 5030, status: 503, ours, retryAfter },
        message: 'the storage cannot be reached: the request was not carried out',
      },
      TOKEN_VERIFIER_UNAVAILABLE: {
        ...{ error: 5030, status: 503, ours, retryAfter },
        message: 'the token cannot be verified now: the request was not carried out',
      },
      OUTCOME_UNKNOWN: {
        ...{ error: 5031, status: 503, ours, retryAfter },
        message: 'the outcome is unknown: the plant may or may not have been stored',
      },
      OVERLOADED: {
        ...{ error: 5032, status: 503, retryAfter },
        message: 'too many requests are in flight: this one was not carried out',
      },
      STOPPING: {
        ...{ error: 5032, status: 503, retryAfter },
        message: 'the service is stopping: the request was not carried out',
      },
    });
  });
});

describe('An error of the HTTP driver', () => {
  it('has a name and a code', () => {
    expect(new HttpError('BODY_MISSING')).to.include({
      name: 'HttpError',
      code: 'BODY_MISSING',
      message: 'the body is missing: send a NewPlant as JSON',
    });
    expect(new StoppingError('x')).to.include({ name: 'StoppingError', code: 'STOPPING' });
  });
});

describe('The response to an error of third-party middleware', () => {
  const thrown = (status: unknown, expose: unknown = true) =>
    toFailure(Object.assign(new Error('slow down'), { status, expose }));

  for (const status of [400, 429, 499]) {
    it(`has its message and ten times its status as the error number: ${status}`, () => {
      expect(thrown(status)).to.deep.equal({ status, error: status * 10, message: 'slow down' });
    });
  }

  for (const status of [399, 500, 400.5, 'x', undefined]) {
    it(`is a constant 500 when its status is ${status}`, () => {
      expect(thrown(status)).to.include({ status: 500, error: 5000, message: 'internal error' });
    });
  }

  it('is a constant 500 when it is not exposed to clients', () => {
    for (const expose of [false, 'yes']) {
      expect(thrown(429, expose)).to.include({ status: 500, error: 5000 });
    }
    expect(toFailure('slow down')).to.include({ status: 500, error: 5000 });
  });
});
