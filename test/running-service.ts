import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../../packages/app/bin/plant-store.js', import.meta.url));

export const TOKEN = 'a-token';
export const DIGEST = createHash('sha256').update(TOKEN).digest('hex');

const running = new Set<ChildProcess>();

/** Ends whatever a failed test has left behind. */
export function endServices(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** The built service as its own process, on free ports of loopback, with a management listener. */
export interface RunningService {
  readonly address: string;
  readonly management: string;
  /** Stops gracefully and resolves with the exit code. */
  stop(): Promise<number>;
}

/** Rejects with what the service said when it does not start. */
export async function startService(env: Record<string, string>): Promise<RunningService> {
  const free = { HOST: '127.0.0.1', PORT: '0', MANAGEMENT_HOST: '127.0.0.1', MANAGEMENT_PORT: '0' };
  const token = 'ACCESS_TOKENS_FILE' in env ? {} : { ACCESS_TOKEN_SHA256: DIGEST };
  const child = spawn(process.execPath, [COMMAND, 'serve'], {
    env: { PATH: process.env.PATH, ...token, ...env, ...free, LOG_FORMAT: 'json' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const ended = once(child, 'close').then(([code]) => code);
  for await (const line of createInterface(child.stdout)) {
    const { msg, address, management } = JSON.parse(line);
    if (msg !== 'listening') continue;
    child.stdout.resume();
    const stop = () => {
      child.kill('SIGTERM');
      return ended;
    };
    return { address, management, stop };
  }
  throw new Error(`ended with ${await ended}: ${errors}`);
}
