import { once } from 'node:events';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { ArrivingRequest } from '../src/arriving-request.js';

const BODY = Buffer.from(Array.from({ length: 10_000 }, (_, at) => at % 256));
const BYTES = [...BODY].map((byte) => Buffer.of(byte));

describe('A body that arrives in chunks of one byte', () => {
  let request: ArrivingRequest;
  const read: Buffer[] = [];
  beforeEach(() => {
    read.length = 0;
    request = new ArrivingRequest(new Socket());
  });

  it("is joined into larger chunks while nobody reads it, even if Deno's are not Buffers", async () => {
    for (const byte of BYTES) request.push(new Uint8Array(byte) as Buffer);
    request.push(null);
    const chunks = await request.toArray();
    expect(Buffer.concat(chunks)).to.deep.equal(BODY);
    expect(chunks).to.have.length.below(30);
  });

  it('is joined into larger chunks for readers that await the whole body', async () => {
    request.on('data', (chunk) => read.push(chunk)).read(0);
    for (const [at, byte] of BYTES.entries()) {
      expect(request.push(byte)).to.equal(true);
      // Some arrive in segments of their own.
      if (at % 10 === 0) await new Promise(setImmediate);
    }
    request.push(null);
    await once(request, 'end');
    expect(Buffer.concat(read)).to.deep.equal(BODY);
    expect(read).to.have.length.below(30);
  });

  it('is read no further once nobody reads it', () => {
    request.on('data', () => undefined).pause();
    const room = BYTES.map((byte) => request.push(byte));
    expect([room.at(0), room.at(-1)]).to.deep.equal([true, false]);
  });
});
