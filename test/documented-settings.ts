import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');

/** The defaults by variable, from a table that another test holds equal to the service's own settings. */
export const documentedDefaults: ReadonlyMap<string, string> = new Map(
  [...page.matchAll(/^\| `([A-Z0-9_]+)` \| (.*?) \|/gm)].map(([, name = '', fallback = '']) => [
    name,
    fallback.replaceAll('`', ''),
  ]),
);

/** In place of the addresses that are meant for a container. */
export const FREE_ADDRESSES = {
  HOST: '127.0.0.1',
  PORT: '0',
  MANAGEMENT_HOST: '127.0.0.1',
  MANAGEMENT_PORT: '0',
};

/** The margin to wait beyond the longest stop before it kills. */
export const STOP_MARGIN_MS = 5000;

/** The longest that a stop takes, in milliseconds, with these variables set. */
export function longestStop(env: Readonly<Record<string, string>>): number {
  return ['SHUTDOWN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS', 'REQUEST_DEADLINE_MS']
    .map((name) => Number(env[name] ?? documentedDefaults.get(name)))
    .reduce((sum, part) => sum + part);
}
