import { once } from 'node:events';
import { connect } from 'node:net';
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

function inChunks(body: string, size: number): string {
  const chunks = body.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
  return chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
}

function plantOf(bytes: number): string {
  const empty = '{"id":1,"name":""}';
  return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`);
}

describe('A body in many chunks', () => {
  const plants = new Map<bigint, NewPlant>();
  let app: Awaited<ReturnType<typeof listeningApp>>;
  beforeEach(async () => {
    plants.clear();
    app = await listeningApp({}, plants);
  });
  afterEach(() => app.close());

  /** Sends the parts one after another, each once the service has taken a turn, and reads the response. */
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
    [256, 1],
    [16_384, 16],
  ] as const) {
    it(`is kept whole: ${bytes} bytes, ${size} in each`, async () => {
      const body = plantOf(bytes);
      for (const parts of [
        [HEAD, inChunks(body, size), '0\r\n\r\n'],
        [`${HEAD + inChunks(body, size)}0\r\n\r\n`],
      ]) {
        plants.clear();
        expect(await respond(...parts)).to.match(/^HTTP\/1\.1 200 /);
        expect(plants.get(1n)?.name).to.have.length(bytes - 18);
      }
    });
  }

  it('is refused when it costs more to parse than to send, before all of it has arrived', async () => {
    for (const parts of [[HEAD, inChunks(plantOf(400), 1)], [HEAD + inChunks(plantOf(400), 1)]]) {
      const response = await respond(...parts);
      expect(response).to.match(/^HTTP\/1\.1 400 .*\r\nConnection: close\r\n/s);
      expect(response).to.include('"error":4000');
      expect(plants.size).to.equal(0);
    }
  });
});
