import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { listeningApp, TOKEN } from '../listening-app.js';

const HEAD = [
  'POST /plants HTTP/1.1',
  'Host: localhost',
  `Authorization: Bearer ${TOKEN}`,
  'Content-Type: application/json',
  'Transfer-Encoding: chunked',
  '\r\n',
].join('\r\n');
const NAME = Array.from({ length: 4_000 }, (_, at) => at + 1_000).join('');

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('A body that arrives in chunks of one byte', () => {
  const plants = new Map<bigint, NewPlant>();
  let app: Awaited<ReturnType<typeof listeningApp>>;
  let arrived: WeakRef<Buffer>[];

  beforeEach(async () => {
    app = await listeningApp({}, plants);
    arrived = [];
    subscribe('http.server.request.start', noteChunks);
  });
  afterEach(async () => {
    unsubscribe('http.server.request.start', noteChunks);
    await app.close();
  });

  it('is kept whole, and its chunks are not', async () => {
    const chunks = [...`{"id":1,"name":"${NAME}"}`].map((byte) => `1\r\n${byte}\r\n`);
    const client = connect(app.port, '127.0.0.1').setEncoding('latin1');
    client.write(HEAD + chunks.join(''));
    while (arrived.length < chunks.length) await otherAnswer();
    await otherAnswer();
    collectGarbage();
    const kept = arrived.filter((chunk) => chunk.deref() !== undefined);
    expect(kept).to.have.length.below(chunks.length / 10);

    client.write('0\r\n\r\n');
    const [answer] = await once(client, 'data');
    client.destroy();
    expect(answer).to.match(/^HTTP\/1.1 200 /);
    expect(plants.get(1n)?.name).to.equal(NAME);
  });

  function noteChunks(message: unknown): void {
    const { request } = message as { request: IncomingMessage };
    const push = request.push.bind(request);
    request.push = (chunk: Buffer | null) => {
      if (chunk !== null) arrived.push(new WeakRef(chunk));
      return push(chunk);
    };
  }

  /** The service has taken a turn for what arrived before. */
  async function otherAnswer(): Promise<void> {
    await (await fetch(`${app.origin}/livez`)).text();
  }
});
