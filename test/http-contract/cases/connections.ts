import { expect } from 'chai';
import { exchange, expectEnd, expectFree, expectService, responsesTo } from '../support/cases.js';
import { checkResponse, type Expected, errorOf, saysClose } from '../support/check-response.js';
import { RawConnection, type ReceivedResponse } from '../support/raw-connection.js';
import {
  CHUNKED,
  create,
  freshId,
  headOf,
  JAVA,
  lines,
  type Parts,
  plantText,
} from '../support/requests.js';
import { OTHER_SETTINGS, useSharedService } from '../support/service.js';

describe('Connections', () => {
  const service = useSharedService();

  function named(name: string): Buffer {
    return create({ body: `{"id":${freshId()},"name":"${name}"}` });
  }

  /** The fuzzer pipelines requests of the other kinds. */
  describe('Pipelined requests', () => {
    const requestId = 'broken';
    const headers = { 'x-request-id': requestId, 'transfer-encoding': 'chunked' };
    const broken: [title: string, bytes: Uint8Array, expected: Expected & { error: number }][] = [
      ['an invalid chunk', headOf({ headers }), { error: 4000, toOperation: true, requestId }],
      ['headers that are too large', create({ target: `/${'x'.repeat(17_200)}` }), { error: 4310 }],
    ];
    for (const [title, bytes, expected] of broken) {
      it(`get their responses before the error for ${title}`, async () => {
        const before = [named('x'.repeat(600)), named('second')];
        const after = [Buffer.from('zz\r\n'), create()];
        const responses = await responsesTo(service().port, ...before, bytes, ...after);
        expect(responses.map(errorOf)).to.deep.equal([undefined, undefined, expected.error]);
        checkResponse(responses[2] as ReceivedResponse, { ...expected, connection: 'close' });
      });
    }

    it('are not carried out after a response that closes the connection', async () => {
      const id = freshId();
      using connection = await RawConnection.open(service().port);
      connection.send(headOf({ headers: { 'content-length': '20000' } }));
      checkResponse(await connection.response(), { error: 4003, connection: 'close' });
      connection.send(' '.repeat(20_000));
      connection.send(create({ body: plantText(id) }));
      expect((await connection.ending()).rest).to.equal('');
      await expectFree(service().port, id);
    });

    it('are not carried out together with a request whose response closes the connection', async () => {
      for (const [headers, error] of [
        [{ connection: 'close' }, undefined],
        [{ host: undefined }, 4000],
      ] as const) {
        const id = freshId();
        const both = [create({ headers }), create({ body: plantText(id) })];
        const responses = await responsesTo(service().port, ...both);
        expect(responses.map(errorOf)).to.deep.equal([error]);
        await expectFree(service().port, id);
      }
    });
  });

  const early: [error: number, parts: Parts][] = [
    [4010, { headers: { authorization: undefined } }],
    [4002, { headers: { 'content-type': undefined } }],
    [4040, { target: '/x' }],
  ];
  const withMiddleware = useSharedService(OTHER_SETTINGS);
  for (const [error, parts] of early) {
    it(`A ${error} arrives without a reset while the body is being sent`, async () => {
      for (const { port } of [service(), withMiddleware()]) {
        using connection = await RawConnection.open(port);
        const headers = { ...parts.headers, 'content-length': '400000' };
        connection.send(headOf({ ...parts, headers }));
        checkResponse(await connection.response(), { error, connection: 'close' });
        for (let sent = 0; sent < 40_000; sent += 4000) await connection.send(' '.repeat(4000));
        await expectEnd(connection);
      }
    });
  }

  describe('Expect: 100-continue', () => {
    const body = plantText();
    const usual = { expect: '100-continue', 'content-length': `${body.length}` };
    const expecting = (headers: Parts['headers'], parts: Parts = {}) =>
      headOf({ ...parts, headers: { ...usual, ...headers } });

    const kept: Expected = { connection: 'keep-alive' };
    const twice = { expect: ['100-continue', '100-Continue'] };
    const large = `4e20\r\n${'x'.repeat(20_000)}\r\n0\r\n\r\n`;
    const served: [title: string, headers: Parts['headers'], sent: string, expected: Expected][] = [
      [', in two fields', twice, plantText(), kept],
      [', with a field __proto__', { ['__proto__']: 'x' }, plantText(), kept],
      [', with a chunked body', CHUNKED, large, { error: 4003 }],
      [', with an upgrade request', JAVA, plantText(), { connection: 'close' }],
    ];
    for (const [title, headers, sent, expected] of served) {
      it(`gets a 100 and its response after a pipelined request${title}`, async () => {
        using connection = await RawConnection.open(service().port);
        connection.send(Buffer.concat([named('first'), expecting(headers)]));
        checkResponse(await connection.response(), { plant: { name: 'first' } });
        expect(await connection.nextStatus()).to.equal(100);
        connection.send(sent);
        const response = await connection.response();
        checkResponse(response, { toOperation: true, ...expected });
        expect(response.interim).to.deep.equal([100]);
        if (!saysClose(response)) await expectService(connection);
      });
    }

    const closing = (error: number): Expected => ({ error, connection: 'close' });
    const old = create({ version: 'HTTP/1.0', headers: { expect: '100-continue' } });
    const head = (target: string) => expecting({}, { method: 'HEAD', target });
    const refused: [title: string, bytes: Uint8Array, expected: Expected][] = [
      ['without credentials', expecting({ authorization: undefined }), closing(4010)],
      ['without the media type', expecting({ 'content-type': 'text/plain' }), closing(4002)],
      ['without a body', expecting({ 'content-length': '0' }), { error: 4001 }],
      ['for a body that is too large', expecting({ 'content-length': '16385' }), closing(4003)],
      ['for a method that is not allowed', expecting({}, { method: 'PUT' }), closing(4050)],
      ['for HEAD of a path that does not exist', head('/x'), { ...closing(4040), toHead: true }],
      ['for HEAD of a path that exists', head('/livez'), { toHead: true, connection: 'close' }],
      ['for an unknown one', expecting({ expect: ['100-continue', 'x'] }), closing(4000)],
      ['in HTTP/1.0', old, {}],
    ];
    for (const [title, bytes, expected] of refused) {
      it(`gets no interim response ${title}`, async () => {
        const response = await exchange(service().port, bytes, expected);
        expect(response.interim).to.deep.equal([]);
      });
    }
  });
});

describe('With MAX_IN_FLIGHT=1,', () => {
  const service = useSharedService(OTHER_SETTINGS);

  it('requests whose bodies are still arriving do not count', async () => {
    const uploads = await Promise.all([1, 2].map(() => RawConnection.open(service().port)));
    for (const upload of uploads) await upload.send(create().subarray(0, -1));
    await exchange(service().port, create());
    for (const upload of uploads) upload.socket.destroy();
  });

  it('requests do not count after they have ended, however they end', async () => {
    const ways = [
      create(),
      create({ body: '{', headers: { connection: 'close' } }),
      create({ body: plantText().padEnd(20_000) }),
      create({ headers: { authorization: undefined } }),
      Buffer.concat([create({ headers: { connection: 'close' } }), create(), create()]),
      Buffer.concat([create(), create(), lines('GARBAGE')]),
      create().subarray(0, -1),
    ];
    for (const bytes of ways) {
      for (const leave of ['resetAndDestroy', 'end', 'destroy'] as const) {
        using connection = await RawConnection.open(service().port);
        await connection.send(bytes);
        connection.socket[leave]();
        if (leave === 'end') await connection.ending();
      }
    }
    await exchange(service().port, create());
  });
});
