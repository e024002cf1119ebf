import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { listeningApp, TOKEN } from '../support/listening-app.js';

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
    'of the syntax of Host': [
      'GET /livez HTTP/1.1\r\nHost: a b',
      4000,
      'Host must be a name or an address, with or without a port',
    ],
    'of versions': [
      'GET /livez HTTP/2.0\r\nHost: a',
      4000,
      'the version must be HTTP/1.1 or HTTP/1.0',
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
    'of JSON': [
      `POST /plants HTTP/1.1\r\n${AUTHORIZED}\r\nContent-Length: 1`,
      4004,
      'the body is not valid JSON: a name in double quotes is missing',
    ],
    'of a NewPlant': [
      `POST /plants HTTP/1.1\r\n${AUTHORIZED}\r\nContent-Length: 2`,
      4005,
      'id is required; name is required',
    ],
    'of HTTP as a whole': [
      'GET /livez HTTP/1.1\r\nHost: a\r\nno colon',
      4000,
      'the request is not valid HTTP/1.1 (RFC 9112)',
    ],
  };

  for (const [what, [head, error, message]] of Object.entries(cases)) {
    it(what, async () => {
      const [, length = '0'] = /Content-Length: (\d)/.exec(head) ?? [];
      const body = '{}'.slice(0, Number(length));
      expect(await failureTo(`${head}\r\n\r\n${body}`)).to.deep.equal({ error, message });
    });
  }
});
