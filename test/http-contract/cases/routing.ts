import { expect } from 'chai';
import { asking, creating, responsesAfter, sending, testEach } from '../support/cases.js';
import { checkResponse } from '../support/check-response.js';
import type { ReceivedResponse } from '../support/raw-connection.js';
import { MARK, request, SERVED, UNSERVED } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

/** Methods of all kinds, of which the service serves some. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

const NOT_FOUND = { error: 4040, toOperation: false } as const;

describe('Paths and methods', () => {
  const service = useSharedService();

  describe('The path is compared byte by byte', () => {
    for (const target of [
      '/plants/1',
      ...['/', '/plants/', '/Plants', '/plants%20', '/plants%3F', '/%70lants', '/%zz'],
      ...['//plants', '//example/plants', '/./plants', '/x/../plants', '/plants;x=1', '/plants\\'],
      ...['/\\plants', '/__proto__', '/livez/', '*', 'http://a.example?/plants'],
      ...['http://a.example/', 'http:///plants', 'http://?/plants', 'http://a.example/%70lants'],
    ]) {
      testEach(service, [creating(`POST ${target} is a 4040`, { target }, NOT_FOUND)]);
    }
    for (const target of ['/plants#x', '/#/plants']) {
      const expected = { error: [4000, 4040], toOperation: false };
      testEach(service, [creating(`POST ${target} does not create`, { target }, expected)]);
    }
    for (const target of [
      ...['/plants??', '/plants?/../x', '/plants?%zz', '/plants?__proto__[x]=1'],
      ...['http://a.example:80/plants?x', 'HTTP://A.EXAMPLE/plants', 'https://a.example/plants'],
    ]) {
      testEach(service, [creating(`POST ${target} creates`, { target })]);
    }
  });

  describe('A path that does not exist is a 4040 whatever the method', () => {
    testEach(
      service,
      METHODS.map((method) => asking(method, { method, target: `/${MARK}` }, 4040)),
    );

    it('CONNECT is a 4040 that closes, after the response to the request before it', async () => {
      const livez = request({ method: 'GET', target: '/livez' });
      const tunnel = request({ method: 'CONNECT', target: 'a.example:443' });
      const responses = await responsesAfter(service.port, (it) =>
        it.send(Buffer.concat([livez, tunnel, livez])),
      );
      expect(responses.map(({ status }) => status)).to.deep.equal([200, 404]);
      checkResponse(responses[1] as ReceivedResponse, { error: 4040, connection: 'close' });
    });
  });

  describe('Another method on /plants is a 4050', () => {
    const methods = METHODS.filter((it) => !SERVED.includes(it));
    testEach(
      service,
      methods.map((method) =>
        asking(
          method,
          { method, target: '/plants', headers: { 'x-http-method-override': 'POST' } },
          { error: 4050, allow: SERVED },
        ),
      ),
    );
    testEach(service, [
      asking(
        'one with a query, without credentials',
        { ...bare('/plants?_method=POST'), method: UNSERVED },
        { error: 4050, allow: SERVED },
      ),
    ]);
  });

  for (const target of ['/livez', '/readyz']) {
    describe(`${target}`, () => {
      testEach(service, [
        asking('responds to GET', bare(target), { otherContent: true, connection: 'keep-alive' }),
        asking(
          'responds to HEAD',
          { ...bare(target), method: 'HEAD' },
          { connection: 'keep-alive' },
        ),
        asking(
          'ignores the token and the query, and responds with the id of the request',
          { target: `${target}?x=1`, headers: { authorization: 'x', 'x-request-id': 'probe-1' } },
          { otherContent: true, requestId: 'probe-1' },
        ),
        sending(
          'responds to a GET that has a body',
          request({ method: 'GET', target, body: '{}' }),
          { otherContent: true },
        ),
      ]);
      testEach(
        service,
        METHODS.slice(2).map((method) =>
          asking(`refuses ${method}`, { method, target }, { error: 4050, allow: ['GET', 'HEAD'] }),
        ),
      );
    });
  }
});

function bare(target: string) {
  return { target, headers: { authorization: undefined, 'content-type': undefined } };
}
