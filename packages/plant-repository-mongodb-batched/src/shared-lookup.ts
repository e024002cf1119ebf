import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf } from './mongo-error.js';

/** How long a connection waits for a name: most of the 2 s in which it must open remain. */
const NAME_TIMEOUT_MS = 500;

/** The code of the system when no name server has responded. */
const TEMPORARY = 'EAI_AGAIN';

/** Looks up the addresses of a name; by default, with Node's resolver. */
type Lookup = (host: string, options: LookupOptions & { all: true }) => Promise<LookupAddress[]>;

/**
 * Returns a look-up of names that connections share. If the first name server is down, a lookup takes 5 s or more, but
 * a connection only has 2 s. So a look-up continues after its connection has failed, and the next connection uses its
 * result.
 */
export function sharedLookup(lookUp: Lookup = lookup): LookupFunction {
  const pending = new Map<string, Promise<LookupAddress[]>>();
  const latest = new Map<string, LookupAddress[]>();

  async function start(host: string, options: LookupOptions): Promise<LookupAddress[]> {
    try {
      const addresses = await lookUp(host, { ...options, all: true });
      latest.set(host, addresses);
      return addresses;
    } catch (error) {
      const known = latest.get(host);
      if (known && codeOf(error) === TEMPORARY) return known;
      throw error;
    } finally {
      pending.delete(host);
    }
  }

  return (host, options, callback) => {
    const current = pending.get(host) ?? start(host, options);
    pending.set(host, current);
    const late = wait(NAME_TIMEOUT_MS, latest.get(host), { ref: false });
    Promise.race([current, late]).then(
      (addresses) => {
        const [first] = addresses ?? [];
        if (first === undefined) callback(lateError(host), []);
        else if (options.all) callback(null, addresses ?? []);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}

function lateError(host: string): Error {
  const error = new Error(`the name ${host} was not resolved within ${NAME_TIMEOUT_MS} ms`);
  return Object.assign(error, { code: TEMPORARY });
}
