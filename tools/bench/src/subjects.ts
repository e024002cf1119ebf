import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../../..', import.meta.url));

const SERVICE = 'packages/app/bin/plant-store.js';

/** A program that is measured. */
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
  stop(): Promise<void>;
}

const peer = (name: string) => join(root, 'tools/bench/peers', name);

/** Returns the service of this checkout, and that of another one, for a comparison before and after a change. */
function services(env: Subject['env'], base: string | undefined): Subject[] {
  const own = { name: 'Plant Store', program: join(root, SERVICE), env };
  return base === undefined ? [own] : [own, { name: 'base', program: join(base, SERVICE), env }];
}

/** Returns the subjects that store plants in memory. */
export function inMemory(base?: string): Subject[] {
  return [
    ...services({ STORAGE: 'memory' }, base),
    { name: 'Fastify', program: peer('fastify-memory.js'), env: {} },
    { name: 'bare node:http', program: peer('bare-http.js'), env: {} },
    { name: 'textbook Koa', program: peer('koa-memory.js'), env: {} },
  ];
}

/** Returns the subjects that store plants in MongoDB, each in a collection of its own. */
export function durable(uri: string, round: number, base?: string): Subject[] {
  const subjects = [
    ...services({}, base),
    { name: 'Fastify + insertOne', program: peer('fastify-mongodb.js'), env: {} },
  ];
  return subjects.map((subject, index) => {
    return { ...subject, env: { MONGODB_URI: uri, MONGODB_COLLECTION: `bench-${round}-${index}` } };
  });
}

/** Starts a subject with `NODE_ENV=production`. Resolves when it listens. */
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
  const ended = once(child, 'close');
  const url = await new Promise<string>((resolve, reject) => {
    let printed = '';
    child.once('close', () => reject(new Error(`${name} ended: ${printed}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const address = /"address":"([^"]+)"/.exec(printed)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { url, token, pid: child.pid ?? 0, stop };
}
