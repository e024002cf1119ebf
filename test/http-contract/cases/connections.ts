import { expect } from 'chai';
import {
  exchange,
  expectEnd,
  expectFree,
  expectService,
  responsesAfter,
} from '../support/cases.js';
import { checkResponse, type Expected, errorOf } from '../support/check-response.js';
import { RawConnection, type ReceivedResponse } from '../support/raw-connection.js';
import { create, freshId, headOf, lines, type Parts, plantText } from '../support/requests.js';
import { OTHER_SETTINGS, useSharedService } from '../support/service.js';

describe('Connections', () => {
  const service = useSharedService();

  function named(name: string, parts: Parts = {}): Buffer {
    return create({ body: `{"id":${freshId()},"name":"${name}"}`, ...parts });
  }

  /** Sends everything at once. */
  const responsesTo = (...requests: Uint8Array[]) =>
    responsesAfter(service.port, (it) => it.send(Buffer.concat(requests)));

  /** The fuzzer pipelines requests of the other kinds. */
  describe('Pipelined requests', () => {
    const requestId = 'broken';
    const headers = { 'x-request-id': requestId };
    const broken: [title: string, bytes: Uint8Array, expected: Expected][] = [
      [
        'an invalid chunk',
        headOf({ headers: { ...headers, 'transfer-encoding': 'chunked' } }),
        { error: 4000, toOperation: true, requestId },
      ],
      ['headers that are too large', create({ target: `/${'x'.repeat(17_000)}` }), { error: 4310 }],
    ];
    for (const [title, bytes, expected] of broken) {
      it(`get their responses before the error for ${title}`, async () => {
        const responses = await responsesTo(named('first'), bytes, Buffer.from('zz\r\n'), create());
        expect(responses.map(errorOf)).to.deep.equal([undefined, expected.error]);
        checkResponse(responses[1] as ReceivedResponse, { ...expected, connection: 'close' });
      });
    }

    it('are not carried out when they are sent after a response that closes', async () => {
      const id = freshId();
      using connection = await RawConnection.open(service.port);
      connection.send(headOf({ headers: { 'content-length': '20000' } }));
      checkResponse(await connection.response(), { error: 4003, connection: 'close' });
      connection.send(' '.repeat(20_000));
      connection.send(create({ body: plantText(id) }));
      const { rest } = await connection.ending();
      expect(rest).to.equal('');
      await expectFree(service.port, id);
    });
  });

  describe('A response to the headers', () => {
    const early: [error: number, parts: Parts][] = [
      [4010, { headers: { authorization: undefined } }],
      [4002, { headers: { 'content-type': undefined } }],
      [4040, { target: '/x' }],
    ];
    for (const [error, parts] of early) {
      it(`a ${error} is received without a reset while the body is still being sent`, async () => {
        using connection = await RawConnection.open(service.port);
        const headers = { ...parts.headers, 'content-length': '40000' };
        connection.send(headOf({ ...parts, headers }));
        for (let sent = 0; sent < 40_000; sent += 4000) await connection.sent(' '.repeat(4000));
        checkResponse(await connection.response(), { error, connection: 'close' });
        await expectEnd(connection);
      });
    }
  });

  describe('A client that half-closes', () => {
    it('with its second request gets the response to it', async () => {
      using connection = await RawConnection.open(service.port);
      connection.send(named('half'));
      checkResponse(await connection.response(), { plant: { name: 'half' } });
      connection.send(named('more'));
      connection.halfClose();
      checkResponse(await connection.response(), { plant: { name: 'more' } });
      await expectEnd(connection);
    });
  });

  describe('Expect: 100-continue', () => {
    const body = plantText();
    const expecting = (headers: Parts['headers'], parts: Parts = {}) =>
      headOf({
        ...parts,
        headers: { expect: '100-continue', 'content-length': `${body.length}`, ...headers },
      });

    it('gets the interim response, and then the final one', async () => {
      using connection = await RawConnection.open(service.port);
      connection.send(expecting({}));
      expect(await connection.nextStatus()).to.equal(100);
      connection.send(body);
      const response = await connection.response();
      checkResponse(response, { toOperation: true, connection: 'keep-alive' });
      expect(response.interim).to.deep.equal([100]);
      await expectService(connection);
    });

    it('gets the interim response for a body in chunks', async () => {
      using connection = await RawConnection.open(service.port);
      connection.send(expecting({ 'content-length': undefined, 'transfer-encoding': 'chunked' }));
      expect(await connection.nextStatus()).to.equal(100);
      connection.send(`4e20\r\n${'x'.repeat(20_000)}\r\n0\r\n\r\n`);
      checkResponse(await connection.response(), { error: 4003 });
    });

    it('gets the interim response after another request', async () => {
      using connection = await RawConnection.open(service.port);
      connection.send(Buffer.concat([named('first'), expecting({})]));
      checkResponse(await connection.response(), { plant: { name: 'first' } });
      expect(await connection.nextStatus()).to.equal(100);
      connection.send(plantText().slice(0, body.length));
      checkResponse(await connection.response(), { toOperation: true });
    });

    const refused: [title: string, headers: Parts['headers'], parts: Parts, error: number][] = [
      ['credentials', { authorization: undefined }, {}, 4010],
      ['the media type', { 'content-type': 'text/plain' }, {}, 4002],
      ['a body', { 'content-length': '0' }, {}, 4001],
      ['a body that is not too large', { 'content-length': '16385' }, {}, 4003],
      ['a path that exists', {}, { target: '/x' }, 4040],
      ['an Expect it knows', { expect: '100-continue, x' }, {}, 4000],
    ];
    for (const [title, headers, parts, error] of refused) {
      it(`gets no interim response without ${title}`, async () => {
        using connection = await RawConnection.open(service.port);
        connection.send(expecting(headers, parts));
        const response = await connection.response();
        checkResponse(response, error === 4001 ? { error } : { error, connection: 'close' });
        expect(response.interim).to.deep.equal([]);
      });
    }

    it('gets no interim response in HTTP/1.0', async () => {
      using connection = await RawConnection.open(service.port);
      connection.send(create({ version: 'HTTP/1.0', headers: { expect: '100-continue' } }));
      const response = await connection.response();
      checkResponse(response, {});
      expect(response.interim).to.deep.equal([]);
    });
  });
});

describe('With MAX_IN_FLIGHT=1', () => {
  const service = useSharedService(OTHER_SETTINGS);

  it('requests whose bodies are still arriving do not count', async () => {
    const uploads = await Promise.all([1, 2].map(() => RawConnection.open(service.port)));
    for (const upload of uploads) await upload.sent(create().subarray(0, -1));
    await exchange(service.port, create());
    for (const upload of uploads) upload.destroy();
  });

  it('requests do not count after they have ended in any way', async () => {
    const ways = [
      create(),
      create({ body: '{}' }),
      create({ body: '' }),
      create({ body: '{', headers: { connection: 'close' } }),
      create({ body: plantText().padEnd(20_000) }),
      create({ headers: { authorization: undefined } }),
      Buffer.concat([create({ headers: { connection: 'close' } }), create(), create()]),
      Buffer.concat([create(), create(), lines('GARBAGE')]),
      create().subarray(0, -1),
    ];
    for (const bytes of ways) {
      for (const leave of ['reset', 'halfClose', 'destroy'] as const) {
        using connection = await RawConnection.open(service.port);
        await connection.sent(bytes);
        connection[leave]();
        if (leave === 'halfClose') await connection.ending();
      }
    }
    await exchange(service.port, create());
  });
});
