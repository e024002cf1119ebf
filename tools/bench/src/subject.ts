import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { newToken, tokenDigest } from './token.js';

/** A program that is measured. */
export interface Subject {
  readonly name: string;
  /** The path of the program from the root of the repository. */
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

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../../..', import.meta.url));

const SERVICE = 'packages/app/bin/plant-store.js';
const PEERS = 'tools/bench/peers';

/** The subjects that store plants in memory. */
export const inMemory: readonly Subject[] = [
  { name: 'Plant Store', program: SERVICE, env: { STORAGE: 'memory' } },
  { name: 'bare node:http', program: `${PEERS}/bare-http.js`, env: {} },
  { name: 'Fastify', program: `${PEERS}/fastify-memory.js`, env: {} },
  { name: 'textbook Koa', program: `${PEERS}/koa-memory.js`, env: {} },
];

/** Returns the subjects that store plants in MongoDB, each in a collection of its own. */
export function durable(uri: string, collection: string): readonly Subject[] {
  // Each has its own collection, because the validator of the service refuses the documents of peers.
  const env = (name: string) => ({ MONGODB_URI: uri, MONGODB_COLLECTION: name });
  return [
    { name: 'Plant Store', program: SERVICE, env: env(collection) },
    {
      name: 'Fastify + insertOne',
      program: `${PEERS}/fastify-mongodb.js`,
      env: env(`${collection}-fastify`),
    },
  ];
}

/** Starts a subject with `NODE_ENV=production`. Resolves when it listens. */
export async function start({ name, program, env }: Subject): Promise<RunningSubject> {
  const token = newToken();
  const child = spawn(process.execPath, [program], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      ...(program === SERVICE
        ? { PORT: '0', ACCESS_TOKEN_SHA256: tokenDigest(token) }
        : { BENCH_TOKEN: token }),
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
