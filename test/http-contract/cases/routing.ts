import { METHODS } from 'node:http';
import { expect } from 'chai';
import { asking, creating, exchange, responsesAfter, sending, testEach } from '../support/cases.js';
import { checkResponse } from '../support/check-response.js';
import type { ReceivedResponse } from '../support/raw-connection.js';
import { create, MARK, request, SERVED, UNSERVED } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const NOT_FOUND = { error: 4040, toOperation: false } as const;

describe('Paths and methods', () => {
  const service = useSharedService();

  describe('The path is compared byte by byte', () => {
    for (const target of [
      ...[
        '/',
        '/plant',
        '/plants/',
        '/plants/1',
        '/Plants',
        '/plants%20',
        '/plants%3F',
        '/plants%2F',
      ],
      ...['/%70lants', '/%zz', '//plants', '//example/plants', '/./plants', '/x/../plants'],
      ...['/plants;x=1', '/plants.json', '/plants\\', '/\\plants', '/__proto__', '/livez/'],
      ...[`/${MARK}`, '*', 'http://a.example', 'http://a.example?/plants', 'http://a.example/'],
      ...['http:///plants', 'HTTPS:///plants', 'http://?/plants'],
      ...['http://a.example/plants/', 'http://a.example/%70lants'],
    ]) {
      testEach(service, [creating(`POST ${target} is a 4040`, { target }, NOT_FOUND)]);
    }
    for (const target of ['/plants#x', '/plants#', '/#/plants']) {
      const expected = { error: [4000, 4040], toOperation: false };
      testEach(service, [creating(`POST ${target} does not create`, { target }, expected)]);
    }
    for (const target of [
      ...[
        '/plants?',
        '/plants??',
        '/plants?x=1',
        '/plants?/../x',
        '/plants?%zz',
        '/plants?a=b&a=c',
      ],
      ...['/plants?__proto__[x]=1', `/plants?access_token=${MARK}`, 'http://a.example/plants'],
      ...['http://a.example:80/plants?x', 'HTTP://A.EXAMPLE/plants', 'https://a.example/plants'],
    ]) {
      testEach(service, [creating(`POST ${target} creates`, { target })]);
    }
  });

  describe('A path that does not exist is a 4040 whatever the method', () => {
    const methods = METHODS.filter((it) => it !== 'CONNECT');
    testEach(
      service,
      methods.map((method) => asking(method, { method, target: `/${MARK}` }, 4040)),
    );
    testEach(service, [asking('OPTIONS *', { method: 'OPTIONS', target: '*' }, 4040)]);

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
    const methods = METHODS.filter((it) => ![...SERVED, 'CONNECT'].includes(it));
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
        'OPTIONS as a CORS preflight',
        {
          method: 'OPTIONS',
          target: '/plants',
          headers: { origin: 'http://b.example', 'access-control-request-method': 'POST' },
        },
        { error: 4050, allow: SERVED },
      ),
      asking(
        'one with a query',
        { method: UNSERVED, target: '/plants?_method=POST' },
        { error: 4050, allow: SERVED },
      ),
      asking(
        'one without credentials',
        { ...bare('/plants'), method: UNSERVED },
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
        asking('responds to a target with a query', bare(`${target}?x=1`), { otherContent: true }),
        asking('responds to an absolute target', bare(`http://a.example${target}`), {
          otherContent: true,
        }),
        asking(
          'ignores the token, and responds with the id of the request',
          { target, headers: { authorization: 'Bearer x', 'x-request-id': 'probe-1' } },
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
        ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'].map((method) =>
          asking(`refuses ${method}`, { method, target }, { error: 4050, allow: ['GET', 'HEAD'] }),
        ),
      );
    });
  }

  describe('The interface description and its page', () => {
    for (const target of ['/openapi.json', '/openapi.yaml', '/docs']) {
      testEach(service, [
        asking(`GET ${target}`, bare(target), { otherContent: true }),
        asking(`HEAD ${target}`, { ...bare(target), method: 'HEAD' }, {}),
        asking(`POST ${target} is a 4050`, { method: 'POST', target }, 4050),
      ]);
    }
    for (const target of [
      ...[`/docs/${MARK}`, '/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/%00'],
      ...['/docs//etc/passwd', '/docs/__proto__', '/docsx', '/openapi.json/'],
    ]) {
      testEach(service, [asking(`GET ${target} is a 4040`, bare(target), 4040)]);
    }
    it('is OpenAPI 3.1', async () => {
      const bytes = request({ method: 'GET', target: '/openapi.json' });
      const response = await exchange(service.port, bytes, { otherContent: true });
      const { openapi, info } = JSON.parse(response.body.toString());
      if (!/^3\.1\./.test(openapi) || info.version !== '1.0.0') throw new Error(openapi);
    });
  });
});

describe('Paths under BASE_PATH', () => {
  const service = useSharedService({ BASE_PATH: '/garden/v1', DOCS: 'off' });

  testEach(service, [
    creating('creates below it', { target: '/garden/v1/plants' }),
    creating('creates below it with a query', { target: '/garden/v1/plants?x' }),
    creating('creates below it with an absolute target', {
      target: 'http://a.example/garden/v1/plants',
    }),
    asking(
      'refuses another method below it',
      { method: UNSERVED, target: '/garden/v1/plants' },
      { error: 4050, allow: SERVED },
    ),
    asking('serves /livez outside of it', { target: '/livez' }, { otherContent: true }),
    asking('serves /readyz outside of it', { target: '/readyz' }, { otherContent: true }),
    sending(
      'refuses a request without credentials below it',
      create({ target: '/garden/v1/plants', headers: { authorization: undefined } }),
      { error: 4010, toOperation: true },
    ),
  ]);
  for (const target of [
    ...['/plants', '/garden/v1', '/garden/v1/plants/', '/garden/v1//plants', '//garden/v1/plants'],
    ...['/Garden/v1/plants', '/garden/v1/livez', '/garden/v1/garden/v1/plants'],
  ]) {
    testEach(service, [creating(`POST ${target} is a 4040`, { target }, NOT_FOUND)]);
  }
  for (const target of ['/openapi.json', '/openapi.yaml', '/docs', '/docs/']) {
    testEach(service, [asking(`GET ${target} is a 4040 with DOCS=off`, { target }, 4040)]);
  }
});

function bare(target: string) {
  return { target, headers: { authorization: undefined, 'content-type': undefined } };
}
