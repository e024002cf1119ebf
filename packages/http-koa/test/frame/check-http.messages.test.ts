import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { InvalidTokenError } from '@plant-store/domain';
import { expect } from 'chai';
import { bearerToken } from '../../src/frame/bearer-token.js';
import { checkedCount, plainPath } from '../../src/frame/options.js';
import { ReceivedRequest } from '../../src/frame/received-request.js';
import { listeningApp, TOKEN } from '../listening-app.js';

const AUTHORIZED = `Host: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json`;

describe('The message of a refusal names the rule', () => {
  let app: Awaited<ReturnType<typeof listeningApp>>;

  before(async () => {
    app = await listeningApp({});
  });

  after(() => app.close());

  /** The body of the response to these bytes. */
  async function failureTo(request: string): Promise<unknown> {
    const socket = connect(app.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.end(request);
    const response = await text(socket);
    return JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4));
  }

  const cases: Readonly<Record<string, readonly [head: string, error: number, message: string]>> = {
    'of the version': [
      'GET /livez HTTP/2.0\r\nHost: a',
      4000,
      'the version must be HTTP/1.1 or HTTP/1.0',
    ],
    'of the target': [
      'GET http:///livez HTTP/1.1\r\nHost: a',
      4000,
      'the request target must contain a host',
    ],
    'of a missing Host': [
      'GET /livez HTTP/1.1',
      4000,
      'the request must have exactly one Host header',
    ],
    'of a second Host': [
      'GET /livez HTTP/1.1\r\nHost: a\r\nHost: a',
      4000,
      'the request must have exactly one Host header',
    ],
    'of an invalid Host': [
      'GET /livez HTTP/1.1\r\nHost: a b',
      4000,
      'Host must be a name or an address, with or without a port',
    ],
    'of transfer codings': [
      'POST /plants HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked',
      4000,
      'Transfer-Encoding must be chunked, in one header',
    ],
    'of chunks in HTTP/1.0': [
      'POST /plants HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked',
      4000,
      'Transfer-Encoding is not part of HTTP/1.0: send Content-Length, or use HTTP/1.1',
    ],
    'of expectations': [
      'GET /livez HTTP/1.1\r\nHost: a\r\nExpect: more',
      4000,
      'Expect must be 100-continue',
    ],
    'of the request line': [
      'GET /livez RTSP/1.0\r\nHost: a',
      4000,
      'the request line must be: method, space, target, space, HTTP/1.1',
    ],
    'of content codings': [
      `POST /plants HTTP/1.1\r\n${AUTHORIZED}\r\nContent-Encoding: gzip\r\nContent-Length: 2`,
      4002,
      'the body must not be compressed: send it without Content-Encoding',
    ],
    'of media types': [
      `POST /plants HTTP/1.1\r\n${AUTHORIZED.replace('json', 'xml')}\r\nContent-Length: 2`,
      4002,
      'Content-Type must be application/json, in one header',
    ],
    'of HTTP as a whole': [
      'GET /livez HTTP/1.1\r\nHost: a\r\nno colon',
      4000,
      'the request is not valid HTTP/1.1 (RFC 9112)',
    ],
  };

  for (const [what, [head, error, message]] of Object.entries(cases)) {
    it(what, async () => {
      const body = head.includes('Content-Length: 2') ? '{}' : '';
      expect(await failureTo(`${head}\r\n\r\n${body}`)).to.deep.equal({ error, message });
    });
  }
});

describe('The request line and headers', () => {
  let app: Awaited<ReturnType<typeof listeningApp>>;

  before(async () => {
    app = await listeningApp({});
  });

  after(() => app.close());

  for (const [size, status] of [
    [16_384, 200],
    [16_385, 431],
  ] as const) {
    it(`have a status of ${status} with ${size} bytes`, async () => {
      const [start, end] = ['GET /livez HTTP/1.1\r\nHost: a\r\nX: ', '\r\n\r\n'];
      const head = `${start}${'x'.repeat(size - start.length - end.length)}${end}`;
      const socket = connect(app.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.end(head);
      expect((await text(socket)).slice(0, 12)).to.equal(`HTTP/1.1 ${status}`);
    });
  }
});

describe('The message of a token that is malformed', () => {
  /** A request with these values of `Authorization`. */
  function requestWith(...values: string[]) {
    const [authorization] = values;
    const rawHeaders = values.flatMap((value) => ['Authorization', value]);
    const prototype: object = ReceivedRequest.prototype;
    return Object.create(prototype, {
      headers: { value: authorization === undefined ? {} : { authorization } },
      rawHeaders: { value: rawHeaders },
    });
  }

  for (const [values, message] of [
    [['Bearer a', 'Bearer b'], 'there are two Authorization fields'],
    [['Bearer a b'], 'the token is malformed'],
    [[`Bearer ${'a'.repeat(8193)}`], 'the token is malformed'],
  ] as const) {
    it(`is: ${message} (${values.join().length} bytes)`, () => {
      expect(() => bearerToken(requestWith(...values)))
        .to.throw(InvalidTokenError, message)
        .with.property('reason', 'malformed');
    });
  }

  it('does not refuse a token of 8,192 bytes', () => {
    expect(bearerToken(requestWith(`Bearer ${'a'.repeat(8192)}`))).to.have.length(8192);
  });
});

describe('The message about an option', () => {
  it('has its name, the rule and what was found', () => {
    expect(() => checkedCount('bodyLimit', 0.5)).to.throw(
      RangeError,
      'bodyLimit must be a whole number above 0, found 0.5',
    );
    expect(() => plainPath('basePath', 'store')).to.throw(
      TypeError,
      "basePath must be empty or segments like /store/v1, found 'store'",
    );
  });
});
