import { once } from 'node:events';
import { connect } from 'node:net';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { listeningApp, TOKEN } from '../support/listening-app.js';

const HEAD = [
  'POST /plants HTTP/1.1',
  'Host: localhost',
  `Authorization: Bearer ${TOKEN}`,
  'Content-Type: application/json;garbage " ,/ =',
  'Transfer-Encoding: chunked',
  '\r\n',
].join('\r\n');

const BODY_LIMIT = 65_536;

function inChunks(body: string, size: number): string {
  const chunks = body.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
  return chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
}

function plantOf(bytes: number): string {
  const empty = '{"id":1,"name":""}';
  return empty.replace('""', `"${'x'.repeat(Math.max(0, bytes - empty.length))}"`);
}

describe('A body in many chunks', () => {
  const plants = new Map<bigint, NewPlant>();
  let app: Awaited<ReturnType<typeof listeningApp>>;
  beforeEach(async () => {
    plants.clear();
    app = await listeningApp({ bodyLimit: BODY_LIMIT }, plants);
  });
  afterEach(() => app.close());

  /** Sends the parts in turn, each in a turn of the event loop of its own, and resolves with the response. */
  async function respond(...parts: string[]): Promise<string> {
    const client = connect(app.port, '127.0.0.1').setEncoding('latin1');
    const response = once(client, 'data');
    for (const part of parts) {
      client.write(part);
      await (await fetch(`${app.origin}/livez`)).text();
    }
    const [text] = await response;
    client.destroy();
    return text;
  }

  for (const [bytes, size] of [
    [16_384, 1],
    [16_384, 1000],
    [BODY_LIMIT, 16],
  ] as const) {
    it(`is read completely: ${bytes} bytes, ${size} in each`, async () => {
      const chunks = inChunks(plantOf(bytes), size);
      for (const parts of [[HEAD, chunks, '0\r\n\r\n'], [`${HEAD + chunks}0\r\n\r\n`]]) {
        plants.clear();
        expect(await respond(...parts)).to.match(/^HTTP\/1\.1 200 /);
        expect(plants.get(1n)?.name).to.have.length(bytes - plantOf(0).length);
      }
    });
  }

  it('is read with `Content-Encoding: IDENTITY`, at once and in pieces', async () => {
    const head = HEAD.replace(
      'Transfer-Encoding',
      'Content-Encoding: IDENTITY\r\nTransfer-Encoding',
    );
    const chunks = inChunks(plantOf(1000), 100);
    for (const parts of [[head, chunks, '0\r\n\r\n'], [`${head + chunks}0\r\n\r\n`]]) {
      plants.clear();
      expect(await respond(...parts)).to.match(/^HTTP\/1\.1 200 /);
    }
  });

  it('is refused with the limit when it is too large, announced, arrived or still arriving', async () => {
    const chunks = inChunks(plantOf(BODY_LIMIT + 1), 1000);
    const announced = HEAD.replace(
      'Transfer-Encoding: chunked',
      `Content-Length: ${BODY_LIMIT + 1}`,
    );
    for (const parts of [[announced], [`${HEAD + chunks}0\r\n\r\n`], [HEAD, chunks]]) {
      const response = await respond(...parts);
      expect(response).to.include(
        '"error":4003,"message":"the body must have at most 65536 bytes"',
      );
      expect(plants.size).to.equal(0);
    }
  });
});
