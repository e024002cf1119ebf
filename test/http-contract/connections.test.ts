import { expect } from 'chai';
import { exchange, expectEnd, expectService } from './cases.js';
import { checkAnswer, type Expected, errorOf, saysClose } from './check-answer.js';
import { type Answer, RawConnection } from './raw-connection.js';
import {
  create,
  freshId,
  headOf,
  lines,
  MARK,
  type Parts,
  plantText,
  request,
} from './requests.js';
import { startService, useService } from './service.js';

const LIVEZ = request({ method: 'GET', target: '/livez' });

describe('Connections', () => {
  const service = useService();

  function named(name: string, parts: Parts = {}): Buffer {
    return create({ body: `{"id":${freshId()},"name":"${name}"}`, ...parts });
  }

  /** Sends everything at once and takes the answers until the connection ends. */
  async function answersTo(...requests: Uint8Array[]): Promise<Answer[]> {
    const connection = await RawConnection.open(service.port);
    connection.send(Buffer.concat(requests));
    connection.halfClose();
    const answers = await connection.answersUntilEnd();
    connection.destroy();
    return answers;
  }

  function checkAll(answers: Answer[], expected: Expected[]): void {
    expect(answers.map(errorOf)).to.deep.equal(expected.map(({ error }) => error));
    for (const [at, answer] of answers.entries()) checkAnswer(answer, expected[at] ?? {});
  }

  /** The plant was not created: its id is still free. */
  async function expectFree(id: bigint): Promise<void> {
    await exchange(service.port, create({ body: plantText(id) }), {});
  }

  describe('Requests pipelined behind one another', () => {
    it('are answered in order', async () => {
      const names = [...Array(50).keys()].map((at) => `plant ${at}`);
      const answers = await answersTo(...names.map((name) => named(name)));
      checkAll(
        answers,
        names.map((name) => ({ plant: { name }, toOperation: true })),
      );
    });

    it('are answered in order, whatever the answers are', async () => {
      const answers = await answersTo(
        named('first'),
        LIVEZ,
        request({ method: 'GET', target: `/${MARK}` }),
        create({ body: '{}' }),
        create({ body: '{', headers: { 'x-request-id': 'fifth' } }),
        create({ chunks: ['{"id":', `${freshId()}`, ',"name":"sixth"}'] }),
        request({ method: 'GET' }),
        named('last'),
      );
      checkAll(answers, [
        { plant: { name: 'first' } },
        { otherContent: true },
        { error: 4040 },
        { error: 4005 },
        { error: 4004, requestId: 'fifth' },
        { plant: { name: 'sixth' } },
        { error: 4050 },
        { plant: { name: 'last' } },
      ]);
    });

    it('are answered in order when they arrive in pieces', async () => {
      const bytes = Buffer.concat([named('first'), LIVEZ, named('second')]);
      const connection = await RawConnection.open(service.port);
      for (let at = 0; at < bytes.length; at += 7)
        await connection.sent(bytes.subarray(at, at + 7));
      checkAnswer(await connection.answer(), { plant: { name: 'first' } });
      checkAnswer(await connection.answer(), { otherContent: true });
      checkAnswer(await connection.answer(), { plant: { name: 'second' } });
      connection.destroy();
    });

    it('may follow an empty line', async () => {
      const answers = await answersTo(named('first'), Buffer.from('\r\n'), named('second'));
      checkAll(answers, [{ plant: { name: 'first' } }, { plant: { name: 'second' } }]);
    });

    it('with one id, create one plant', async () => {
      const same = create();
      checkAll(await answersTo(same, same, same), [{}, { error: 4006 }, { error: 4006 }]);
    });

    it('are all answered when there are five hundred', async () => {
      const answers = await answersTo(...Array.from({ length: 500 }, () => create()));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(500).fill(200));
    });

    it('are answered before an error of the parser', async () => {
      const answers = await answersTo(named('first'), named('second'), lines('GARBAGE'));
      checkAll(answers, [
        { plant: { name: 'first' } },
        { plant: { name: 'second' } },
        { error: 4000, connection: 'close' },
      ]);
    });

    it('are answered before a broken chunk', async () => {
      const broken = headOf({
        headers: { 'transfer-encoding': 'chunked', 'x-request-id': 'broken' },
      });
      const answers = await answersTo(named('first'), broken, Buffer.from('zz\r\n'), create());
      checkAll(answers, [
        { plant: { name: 'first' } },
        { error: 4000, connection: 'close', toOperation: true, requestId: 'broken' },
      ]);
    });

    it('are answered before fields that are too large', async () => {
      const large = create({ headers: { 'x-filler': 'x'.repeat(17_000) } });
      const answers = await answersTo(named('first'), large);
      checkAll(answers, [{ plant: { name: 'first' } }, { error: 4310, connection: 'close' }]);
    });
  });

  describe('A request behind an answer that closes is not carried out', () => {
    const closing: [title: string, first: Uint8Array, error: number | undefined][] = [
      ['Connection: close', create({ headers: { connection: 'close' } }), undefined],
      ['HTTP/1.0', create({ version: 'HTTP/1.0' }), undefined],
      [
        'Connection: close with an error',
        create({ body: '{}', headers: { connection: 'close' } }),
        4005,
      ],
      ['a request line that is not valid', lines('GARBAGE'), 4000],
      ['a body too large', create({ body: plantText().padEnd(17_000) }), 4003],
      ['a body too large in chunks', create({ chunks: [plantText().padEnd(17_000)] }), 4003],
      ['no credentials and a large body', without('authorization', 30_000), 4010],
      ['no media type and a large body', without('content-type', 30_000), 4002],
      [
        'an unknown path and a large body',
        create({ target: '/x', body: ' '.repeat(30_000) }),
        4040,
      ],
      [
        'another method and a large body',
        create({ method: 'PUT', body: ' '.repeat(30_000) }),
        4050,
      ],
      ['no credentials', without('authorization'), 4010],
      ['no media type', without('content-type'), 4002],
      ['no Host', without('host'), 4000],
      ['another Expect', create({ headers: { expect: MARK } }), 4000],
      ['CONNECT', request({ method: 'CONNECT', target: 'a.example:443' }), 4040],
      ['more than 1,000 fields', create({ headers: { 'x-f': Array(1000).fill('1') } }), 4310],
    ];
    for (const [title, first, error] of closing) {
      it(title, async () => {
        const id = freshId();
        const answers = await answersTo(first, create({ body: plantText(id) }));
        const [answer] = answers;
        if (answer === undefined) throw new Error('no answer');
        checkAnswer(answer, error === undefined ? {} : { error });
        expect(answers).to.have.length(saysClose(answer) ? 1 : 2);
        if (saysClose(answer)) await expectFree(id);
        else expect(answers[1]?.status).to.equal(200);
      });
    }

    it('nor is one that comes after the answer', async () => {
      const id = freshId();
      const connection = await RawConnection.open(service.port);
      connection.send(headOf({ headers: { 'content-length': '20000' } }));
      checkAnswer(await connection.answer(), { error: 4003, connection: 'close' });
      connection.send(' '.repeat(20_000));
      connection.send(create({ body: plantText(id) }));
      const { rest } = await connection.ending();
      expect(rest).to.equal('');
      connection.destroy();
      await expectFree(id);
    });
  });

  describe('One request gets one answer', () => {
    const early: [title: string, parts: Parts, error: number][] = [
      ['4010', { headers: { authorization: undefined } }, 4010],
      ['4002', { headers: { 'content-type': undefined } }, 4002],
      ['4040', { target: '/x' }, 4040],
      ['4050', { method: 'PUT' }, 4050],
    ];
    for (const [title, parts, error] of early) {
      it(`a broken chunk behind a ${title} adds none`, async () => {
        const headers = { ...parts.headers, 'transfer-encoding': 'chunked' };
        const answers = await answersTo(
          headOf({ ...parts, headers }),
          Buffer.from('zz\r\nGARBAGE'),
        );
        expect(answers.map(errorOf).join()).to.be.oneOf([`${error}`, '4000']);
      });
      it(`a ${title} whose body is still to come says that the connection closes`, async () => {
        const connection = await RawConnection.open(service.port);
        const headers = { ...parts.headers, 'content-length': '50' };
        connection.send(headOf({ ...parts, headers }));
        checkAnswer(await connection.answer(), { error, connection: 'close' });
        await expectEnd(connection);
        connection.destroy();
      });
      it(`a ${title} whose body goes on is read to its end without a reset`, async () => {
        const connection = await RawConnection.open(service.port);
        const headers = { ...parts.headers, 'content-length': '40000' };
        connection.send(headOf({ ...parts, headers }));
        for (let sent = 0; sent < 40_000; sent += 4000) await connection.sent(' '.repeat(4000));
        checkAnswer(await connection.answer(), { error, connection: 'close' });
        await expectEnd(connection);
        connection.destroy();
      });
    }
  });

  describe('A client that half-closes', () => {
    it('gets its answer', async () => {
      checkAll(await answersTo(named('half')), [{ plant: { name: 'half' } }]);
    });

    it('gets the answer to a body in chunks', async () => {
      checkAll(await answersTo(create({ chunks: [plantText()] })), [{ toOperation: true }]);
    });

    it('gets an error too', async () => {
      checkAll(await answersTo(create({ body: '{}' })), [{ error: 4005 }]);
    });

    it('later gets its answer too', async () => {
      const connection = await RawConnection.open(service.port);
      connection.send(named('half'));
      checkAnswer(await connection.answer(), { plant: { name: 'half' } });
      connection.send(named('more'));
      connection.halfClose();
      checkAnswer(await connection.answer(), { plant: { name: 'more' } });
      await expectEnd(connection);
      connection.destroy();
    });

    for (const framing of [{ 'content-length': '1000' }, { 'transfer-encoding': 'chunked' }]) {
      it(`within a body is told so or let go: ${Object.keys(framing)}`, async () => {
        const id = freshId();
        const start = request({ headers: framing });
        const answers = await answersTo(start, Buffer.from(`3e8\r\n${plantText(id)}`));
        expect(answers.map(errorOf).join()).to.be.oneOf(['', '4000']);
        await expectFree(id);
      });
    }

    it('without a request gets no answer', async () => {
      expect(await answersTo()).to.deep.equal([]);
    });
  });

  describe('Expect: 100-continue', () => {
    const body = plantText();
    const expecting = (headers: Parts['headers'], parts: Parts = {}) =>
      headOf({
        ...parts,
        headers: { expect: '100-continue', 'content-length': `${body.length}`, ...headers },
      });

    it('gets the interim answer, and then the answer', async () => {
      const connection = await RawConnection.open(service.port);
      connection.send(expecting({}));
      expect(await connection.nextStatus()).to.equal(100);
      connection.send(body);
      const answer = await connection.answer();
      checkAnswer(answer, { toOperation: true, connection: 'keep-alive' });
      expect(answer.interim).to.deep.equal([100]);
      await expectService(connection);
      connection.destroy();
    });

    it('gets the interim answer for a body in chunks', async () => {
      const connection = await RawConnection.open(service.port);
      connection.send(expecting({ 'content-length': undefined, 'transfer-encoding': 'chunked' }));
      expect(await connection.nextStatus()).to.equal(100);
      connection.send(`4e20\r\n${'x'.repeat(20_000)}\r\n0\r\n\r\n`);
      checkAnswer(await connection.answer(), { error: 4003, connection: 'close' });
      connection.destroy();
    });

    it('gets the interim answer behind another request', async () => {
      const connection = await RawConnection.open(service.port);
      connection.send(Buffer.concat([named('first'), expecting({})]));
      checkAnswer(await connection.answer(), { plant: { name: 'first' } });
      expect(await connection.nextStatus()).to.equal(100);
      connection.send(plantText().slice(0, body.length));
      checkAnswer(await connection.answer(), { toOperation: true });
      connection.destroy();
    });

    const refused: [title: string, headers: Parts['headers'], parts: Parts, error: number][] = [
      ['credentials', { authorization: undefined }, {}, 4010],
      ['a valid token', { authorization: `Bearer ${MARK}` }, {}, 4011],
      ['the media type', { 'content-type': 'text/plain' }, {}, 4002],
      ['a content coding it knows', { 'content-encoding': 'gzip' }, {}, 4002],
      ['a body', { 'content-length': '0' }, {}, 4001],
      ['a body that is not too large', { 'content-length': '16385' }, {}, 4003],
      ['a path that exists', {}, { target: '/x' }, 4040],
      ['the method', {}, { method: 'PUT' }, 4050],
      ['a Host', { host: undefined }, {}, 4000],
      ['an Expect it knows', { expect: '100-continue, x' }, {}, 4000],
    ];
    for (const [title, headers, parts, error] of refused) {
      it(`gets no interim answer without ${title}`, async () => {
        const connection = await RawConnection.open(service.port);
        connection.send(expecting(headers, parts));
        const answer = await connection.answer();
        checkAnswer(answer, error === 4001 ? { error } : { error, connection: 'close' });
        expect(answer.interim).to.deep.equal([]);
        connection.destroy();
      });
    }

    it('gets no interim answer in HTTP/1.0', async () => {
      const connection = await RawConnection.open(service.port);
      connection.send(create({ version: 'HTTP/1.0', headers: { expect: '100-continue' } }));
      const answer = await connection.answer();
      checkAnswer(answer, {});
      expect(answer.interim).to.deep.equal([]);
      connection.destroy();
    });
  });

  it('A hundred uploads that are broken off leave the service as it was', async () => {
    const ids = Array.from({ length: 100 }, freshId);
    for (const id of ids) {
      const connection = await RawConnection.open(service.port);
      await connection.sent(headOf({ headers: { 'content-length': '1000' } }));
      await connection.sent(plantText(id));
      connection.reset();
    }
    for (const id of ids) await expectFree(id);
  });
});

describe('With MAX_IN_FLIGHT=1', () => {
  const service = useService({ MAX_IN_FLIGHT: '1' });

  it('a request that is refused in a burst was not stored, and one that is not refused was', async () => {
    const requests = Array.from({ length: 100 }, () => create());
    const connections = await Promise.all(requests.map(() => RawConnection.open(service.port)));
    for (const [at, connection] of connections.entries()) connection.send(requests[at] ?? '');
    const answers = await Promise.all(connections.map((it) => it.answer()));
    for (const connection of connections) connection.destroy();
    for (const [at, answer] of answers.entries()) {
      const refused = answer.status !== 200;
      checkAnswer(answer, refused ? { error: 5032, toOperation: true } : {});
      await exchange(service.port, requests[at] ?? Buffer.alloc(0), refused ? {} : { error: 4006 });
    }
  });

  it('uploads that are under way do not count', async () => {
    const uploads = await Promise.all(
      Array.from({ length: 10 }, () => RawConnection.open(service.port)),
    );
    for (const upload of uploads) await upload.sent(create().subarray(0, -1));
    await exchange(service.port, create(), {});
    for (const upload of uploads) upload.destroy();
  });

  it('requests that ended in whatever way count no longer', async () => {
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
    for (const bytes of [...ways, ...ways, ...ways]) {
      for (const leave of ['reset', 'halfClose', 'destroy'] as const) {
        const connection = await RawConnection.open(service.port);
        await connection.sent(bytes);
        connection[leave]();
        if (leave === 'halfClose') await connection.ending();
        connection.destroy();
      }
    }
    await exchange(service.port, create(), {});
  });
});

describe('With MAX_CONNECTIONS=3', () => {
  const service = useService({ MAX_CONNECTIONS: '3' });

  it('a fourth connection is closed without an answer, until another has gone', async () => {
    const open = await Promise.all([1, 2, 3].map(() => RawConnection.open(service.port)));
    for (const connection of open) await expectService(connection);
    const fourth = await RawConnection.open(service.port);
    expect((await fourth.ending()).rest).to.equal('');
    open[0]?.halfClose();
    await open[0]?.ending();
    await exchange(service.port, create(), {});
    for (const connection of open) connection.destroy();
  });
});

describe('When the service stops', () => {
  it('says so on /readyz, serves on until the delay has passed, and exits with 0', async () => {
    const service = await startService({ SHUTDOWN_DELAY_MS: '1500' });
    const connection = await RawConnection.open(service.port);
    await expectService(connection);
    const ended = service.stop();
    const readyz = request({ method: 'GET', target: '/readyz' });
    let answer: Answer;
    do {
      connection.send(readyz);
      answer = await connection.answer();
    } while (answer.status === 200 && !saysClose(answer));
    checkAnswer(answer, { error: 5032 });
    connection.destroy();
    expect(await ended).to.equal(0);
  });
});

function without(field: string, size = 0): Uint8Array {
  return create({ body: plantText().padEnd(size), headers: { [field]: undefined } });
}
