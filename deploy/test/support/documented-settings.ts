import { read } from '../../../test/support/root.js';

const page = read('docs/configuration.md');

/** The defaults by variable, from the table in the documentation, which another test compares with the code. */
export const documentedDefaults: ReadonlyMap<string, string> = new Map(
  [...page.matchAll(/^\| `([A-Z0-9_]+)` \| (.*?) \|/gm)].map(([, name = '', fallback = '']) => [
    name,
    fallback.replaceAll('`', ''),
  ]),
);

/** Replaces the addresses that are meant for a container. */
export const FREE_ADDRESSES = {
  HOST: '127.0.0.1',
  PORT: '0',
  MANAGEMENT_HOST: '127.0.0.1',
  MANAGEMENT_PORT: '0',
};

/** Returns how long an orchestrator must wait at least before it kills the service with these variables, in seconds. */
export function gracePeriod(env: Readonly<Record<string, string>> = {}): number {
  return ['SHUTDOWN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS', 'REQUEST_DEADLINE_MS']
    .map((name) => Number(env[name] ?? documentedDefaults.get(name)) / 1000)
    .reduce((sum, part) => sum + part, 5);
}
