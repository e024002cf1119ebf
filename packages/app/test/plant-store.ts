import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { tokenDigest } from '@plant-store/token-verifier-static';

/** The built command. */
export const command = fileURLToPath(new URL('../../bin/plant-store.js', import.meta.url));

/** A `plant-store` process, and what it has printed so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Resolves with the first match in standard output; rejects when the process ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

const running = new Set<ChildProcess>();

/** Starts the command with nothing in its environment but `PATH` and what is given. */
export function run(args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [command, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return code ?? signal;
  });
  const printed = async (pattern: RegExp) => {
    for (;;) {
      const match = pattern.exec(out);
      if (match) return match;
      const gone = await Promise.race([once(child.stdout, 'data').then(() => false), ended]);
      if (gone !== false && !pattern.test(out)) throw new Error(`ended with ${gone}: ${out}${err}`);
    }
  };
  return { child, stdout: () => out, stderr: () => err, ended, printed };
}

/** The token that a service started with its digest accepts. */
export const TOKEN = 'a-token';
export const ACCESS_TOKEN_SHA256 = tokenDigest(TOKEN);

/** Starts the service with a management listener, both on free ports; resolves when it listens. */
export async function startMeasured(env: Record<string, string> = {}) {
  const service = run(['serve'], {
    ...{ PORT: '0', MANAGEMENT_PORT: '0', LOG_FORMAT: 'json', ACCESS_TOKEN_SHA256 },
    ...env,
  });
  const [line] = await service.printed(/^.*listening.*$/m);
  return { ...service, ...(JSON.parse(line) as { address: string; management: string }) };
}

/** Asks the service at this address for a plant. */
export function createPlant(address: string, id: number, name = 'Monstera'): Promise<Response> {
  return fetch(`${address}/plants`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ id, name }),
  });
}

/** Ends whatever a failed test has left behind. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
}
