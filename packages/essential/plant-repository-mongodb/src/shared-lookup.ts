import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** How long a connection waits for a name. Leaves most of the 2 s for connecting. */
const NAME_TIMEOUT_MS = 500;

/**
 * Returns a look-up of names that connections share. While the first name server is down, a look-up takes 5 s or more, but
 * a connection must open within 2 s. So a look-up goes on when its connection has failed, and a later one gets what it
 * finds. A name that was found before keeps its addresses for as long as no name server responds.
 *
 * @param lookUp Finds the addresses of a name; by default, with the resolver of the system.
 */
export function sharedLookup(
  lookUp: (host: string, options: { all: true }) => Promise<LookupAddress[]> = lookup,
): LookupFunction {
  const pending = new Map<string, Promise<LookupAddress[]>>();
  const latest = new Map<string, LookupAddress[]>();

  async function start(host: string): Promise<LookupAddress[]> {
    try {
      const addresses = await lookUp(host, { all: true });
      latest.set(host, addresses);
      return addresses;
    } catch (error) {
      const known = latest.get(host);
      if (known && error instanceof Error && 'code' in error && error.code === 'EAI_AGAIN') {
        return known;
      }
      throw error;
    } finally {
      pending.delete(host);
    }
  }

  async function inTime(host: string): Promise<LookupAddress[]> {
    const current = pending.get(host) ?? start(host);
    pending.set(host, current);
    const late = pause(NAME_TIMEOUT_MS, latest.get(host), { ref: false });
    const addresses = await Promise.race([current, late]);
    if (addresses) return addresses;
    throw new Error(`the name ${host} was not resolved within ${NAME_TIMEOUT_MS} ms`);
  }

  return (host, { all, family }, callback) => {
    inTime(host).then(
      (found) => {
        const addresses = found.filter((it) => !family || it.family === family);
        const [first] = addresses;
        if (!first) callback(new Error(`the name ${host} has no IPv${family} address`), []);
        else if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}
