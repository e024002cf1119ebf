import { deepEqual, equal, rejects } from 'node:assert/strict';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { sharedLookup } from '../../src/connection/shared-lookup.js';

const HOST = 'db.example';
const ADDRESSES = [
  { address: '192.0.2.1', family: 4 },
  { address: '2001:db8::1', family: 6 },
];

/** A name server that responds when a test lets it. */
class NameServer {
  readonly asked: LookupOptions[] = [];
  #lookUps: { resolve(found: LookupAddress[]): void; reject(error: Error): void }[] = [];

  readonly #lookup = sharedLookup((_, options) => {
    this.asked.push(options);
    return new Promise((resolve, reject) => this.#lookUps.push({ resolve, reject }));
  });

  /** What a connection gets. */
  lookUp(options: LookupOptions = { all: true }): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#lookup(HOST, options, (error, ...found) => (error ? reject(error) : resolve(found)));
    });
  }

  respond(): void {
    for (const { resolve } of this.#lookUps.splice(0)) resolve(ADDRESSES);
  }

  fail(code: string): void {
    const error = Object.assign(new Error(`getaddrinfo ${code} ${HOST}`), { code });
    for (const { reject } of this.#lookUps.splice(0)) reject(error);
  }
}

describe('The look-up of the names of servers', () => {
  let names: NameServer;

  beforeEach(() => {
    names = new NameServer();
  });

  async function known(): Promise<void> {
    const found = names.lookUp();
    names.respond();
    await found;
  }

  it('finds every address, or the first one when a connection can use only one', async () => {
    const all = names.lookUp({ all: true, hints: 0 });
    names.respond();
    deepEqual(await all, [ADDRESSES]);
    const one = names.lookUp({ family: 4 });
    names.respond();
    deepEqual(await one, ['192.0.2.1', 4]);
    deepEqual(names.asked, [
      { all: true, hints: 0 },
      { all: true, family: 4 },
    ]);
  });

  it('names the host that is not resolved in time, and asks no second time meanwhile', async () => {
    const late = { message: `the name ${HOST} was not resolved within 500 ms`, code: 'EAI_AGAIN' };
    await rejects(names.lookUp(), late);
    await rejects(names.lookUp({}), late);
    equal(names.asked.length, 1);
  });

  it('continues after a connection has failed, so that the next one gets the result', async () => {
    await rejects(names.lookUp());
    names.respond();
    deepEqual(await names.lookUp(), [ADDRESSES]);
  });

  it('takes the latest result when the name server responds late or fails', async () => {
    await known();
    deepEqual(await names.lookUp(), [ADDRESSES]);
    const failing = names.lookUp({});
    names.fail('EAI_AGAIN');
    deepEqual(await failing, ['192.0.2.1', 4]);
  });

  it('fails when the name is gone', async () => {
    await known();
    const gone = names.lookUp();
    names.fail('ENOTFOUND');
    await rejects(gone, { code: 'ENOTFOUND' });
  });
});
