import { deepEqual, equal, rejects } from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { sharedLookup } from '../src/shared-lookup.js';

const HOST = 'db.example';
const ADDRESSES = [
  { address: '192.0.2.1', family: 4 },
  { address: '2001:db8::1', family: 6 },
];
const LATE = { message: `the name ${HOST} was not resolved within 500 ms` };

describe('The look-up of the names of servers', () => {
  let asked: number;
  /** Lets the name server respond. */
  let respond: (error?: Error) => void;
  let lookup: ReturnType<typeof sharedLookup>;

  beforeEach(() => {
    asked = 0;
    lookup = sharedLookup(() => {
      asked += 1;
      return new Promise<LookupAddress[]>((resolve, reject) => {
        respond = (error) => (error ? reject(error) : resolve(ADDRESSES));
      });
    });
  });

  /** What a connection gets. */
  const lookUp = (all = true, family = 0): Promise<unknown> =>
    new Promise((resolve, reject) => {
      lookup(HOST, { all, family }, (error, ...found) => (error ? reject(error) : resolve(found)));
    });

  it('goes on when a connection can wait no longer, and serves the next ones', async () => {
    await rejects(lookUp(), LATE);
    await rejects(lookUp(false), LATE);
    equal(asked, 1);
    respond();
    deepEqual(await lookUp(), [ADDRESSES]);
    deepEqual(await lookUp(false), ['192.0.2.1', 4]);
    deepEqual(await lookUp(false, 6), ['2001:db8::1', 6]);
  });

  it('keeps the latest result when look-ups fail, unless the name is gone', async () => {
    const found = lookUp();
    respond();
    await found;
    const failing = lookUp();
    respond(Object.assign(new Error('none'), { code: 'EAI_AGAIN' }));
    deepEqual(await failing, [ADDRESSES]);
    const gone = lookUp();
    respond(Object.assign(new Error('gone'), { code: 'ENOTFOUND' }));
    await rejects(gone, { code: 'ENOTFOUND' });
  });
});
