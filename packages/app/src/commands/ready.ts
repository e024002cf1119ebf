import { readConfiguration } from '../configuration/configuration.js';
import { messageOf } from '../configuration/setting.js';
import { type OwnProcess, urlOf } from './own-process.js';

const TIME_LIMIT_MS = 5000;

/** Checks whether the service that runs with this configuration is ready. Resolves with the exit code: 0 or 1. */
export async function ready({ env, stdout, stderr }: OwnProcess): Promise<number> {
  const { HOST, PORT } = await readConfiguration(env, false);
  try {
    const response = await fetch(`${urlOf(HOST, PORT)}/readyz`, {
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    });
    stdout.write(`${await response.text()}\n`);
    return response.ok ? 0 : 1;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    stderr.write(`plant-store: no response from ${HOST}:${PORT} (${messageOf(cause)})\n`);
    return 1;
  }
}
