import { rejects } from 'node:assert/strict';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { HttpError } from '../../src/frame/failures.js';
import { ReceivedRequest, refuseFailed } from '../../src/frame/received-request.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('The arrival of a request', () => {
  let request: ReceivedRequest;

  beforeEach(() => {
    request = new ReceivedRequest(new Socket());
  });

  const push = (size: number) => request.push(Buffer.alloc(size));

  it('passes the first chunk on at once, and gathers later chunks of less than 256 bytes', async () => {
    push(1);
    expect(request.readableLength).to.equal(1);
    push(255);
    push(1);
    expect(request.readableLength).to.equal(1);
    await nextTurn();
    expect(request.readableLength).to.equal(257);
  });

  it('passes larger chunks on at once, after what was gathered', () => {
    push(1);
    push(10);
    push(256);
    expect(request.readableLength).to.equal(267);
  });

  it('passes what was gathered on before its end', () => {
    push(1);
    push(10);
    request.push(null);
    expect(request.readableLength).to.equal(11);
  });

  it('pauses the connection while enough has arrived', () => {
    const most = request.readableHighWaterMark;
    push(most - 1);
    expect(push(1)).to.equal(true);
    const full = new ReceivedRequest(new Socket());
    full.push(Buffer.alloc(most));
    expect(full.push(Buffer.alloc(1))).to.equal(false);
  });

  it('keeps its first failure, and ignores later chunks except the end', async () => {
    const late = new HttpError('REQUEST_TIMEOUT');
    const interruption = request.interruption();
    expect(() => refuseFailed(request)).not.to.throw();
    request.fail(late);
    request.fail(new HttpError('MALFORMED_REQUEST'));
    await rejects(interruption, late);
    expect(request.failure).to.equal(late);
    expect(() => refuseFailed(request)).to.throw(HttpError, 'did not arrive in time');
    expect(push(1)).to.equal(false);
    expect(request.readableLength).to.equal(0);
    request.push(null);
    request.resume();
    await new Promise((resolve) => request.once('end', resolve));
  });

  it('fails with too many small chunks', () => {
    push(1);
    let count = 1;
    while (push(1) && request.failure === undefined) count += 1;
    while (request.failure === undefined) {
      push(1);
      count += 1;
    }
    expect(request.failure).to.have.property('code', 'MALFORMED_REQUEST');
    expect(count).to.be.within(16_384, 18_000);
    expect(push(1)).to.equal(false);
  });
});
