import { deepEqual, equal, rejects } from 'node:assert/strict';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { sharedLookup } from '../src/shared-lookup.js';

const HOST = 'db.example';
const ADDRESSES = [
  { address: '192.0.2.1', family: 4 },
  { address: '2001:db8::1', family: 6 },
];
const LATE = { message: `the name ${HOST} was not resolved within 500 ms`, code: 'EAI_AGAIN' };

describe('The look-up of the names of servers', () => {
  let asked: LookupOptions[];
  /** Lets the name server respond. */
  let respond: (error?: Error) => void;
  let lookup: ReturnType<typeof sharedLookup>;

  beforeEach(() => {
    asked = [];
    lookup = sharedLookup((_, options) => {
      asked.push(options);
      return new Promise<LookupAddress[]>((resolve, reject) => {
        respond = (error) => (error ? reject(error) : resolve(ADDRESSES));
      });
    });
  });

  /** What a connection gets. */
  const lookUp = (options: LookupOptions = { all: true }): Promise<unknown> =>
    new Promise((resolve, reject) => {
      lookup(HOST, options, (error, ...found) => (error ? reject(error) : resolve(found)));
    });

  it('finds every address, or the first if a connection can use one', async () => {
    const all = lookUp({ all: true, hints: 0 });
    respond();
    deepEqual(await all, [ADDRESSES]);
    const one = lookUp({ family: 4 });
    respond();
    deepEqual(await one, ['192.0.2.1', 4]);
    deepEqual(asked, [
      { all: true, hints: 0 },
      { all: true, family: 4 },
    ]);
  });

  it('names the host that is not resolved in time, and keeps trying', async () => {
    await rejects(lookUp(), LATE);
    await rejects(lookUp({}), LATE);
    equal(asked.length, 1);
    respond();
    deepEqual(await lookUp(), [ADDRESSES]);
  });

  it('keeps the latest result when look-ups fail, unless the name is gone', async () => {
    const found = lookUp();
    respond();
    await found;
    deepEqual(await lookUp({}), ['192.0.2.1', 4]);
    const failing = lookUp();
    respond(Object.assign(new Error('none'), { code: 'EAI_AGAIN' }));
    deepEqual(await failing, [ADDRESSES]);
    const gone = lookUp();
    respond(Object.assign(new Error('gone'), { code: 'ENOTFOUND' }));
    await rejects(gone, { code: 'ENOTFOUND' });
  });
});
