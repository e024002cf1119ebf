import { readConfiguration } from './configuration.js';

const TIME_LIMIT_MS = 5000;

/** Asks the service that runs with this configuration whether it is ready. Resolves with the exit code. */
export async function ready(): Promise<number> {
  const { HOST, PORT } = readConfiguration(process.env, false);
  try {
    const response = await fetch(`http://${reachable(HOST)}:${PORT}/readyz`, {
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    });
    process.stdout.write(`${await response.text()}\n`);
    return response.ok ? 0 : 1;
  } catch (error) {
    process.stderr.write(`plant-store: no answer from ${HOST}:${PORT} (${reasonOf(error)})\n`);
    return 1;
  }
}

/** A service that listens on every address is reached on this machine's own. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
