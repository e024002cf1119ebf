import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The service, or a peer that does the same job. */
export interface Subject {
  readonly name: string;
  /** The absolute path of the program. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A subject that listens. */
export interface RunningSubject {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** Kills it. Resolves when it is gone. */
  stop(): Promise<void>;
}

/** Returns the service of this checkout, or of another. */
export function service(name: string, checkout = root): Subject {
  return {
    name,
    program: join(checkout, 'packages/production/service/bin/plant-store.js'),
    env: {},
  };
}

/** Returns the peer in a file of `benchmarks/peers`. */
export function peer(name: string, file: string): Subject {
  return { name, program: join(root, 'benchmarks/peers', file), env: {} };
}

/** Exits on a signal, as after Ctrl+C: every server that this process has started is then killed. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(130));
  }
}

/** Starts a subject with `NODE_ENV=production`. Resolves when it listens. It is killed when this process exits. */
export async function start({ name, program, env }: Subject): Promise<RunningSubject> {
  const token = randomBytes(16).toString('hex');
  const child = spawn(process.execPath, [program], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: '0',
      ACCESS_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
      // For the peers, which compare the token itself.
      BENCH_TOKEN: token,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'close');
  const url = await new Promise<string>((resolve, reject) => {
    let printed = '';
    child.once('close', () => reject(new Error(`${name} ended: ${printed}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const address = /"url":"([^"]+)"/.exec(printed)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
  const stop = async () => {
    kill();
    await ended;
    process.removeListener('exit', kill);
  };
  return { url, token, pid: child.pid ?? 0, stop };
}
