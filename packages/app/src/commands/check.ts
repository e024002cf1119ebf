import { setTimeout as wait } from 'node:timers/promises';
import { advice, readConfiguration } from '../configuration/configuration.js';
import { ConfigurationError } from '../configuration/setting.js';
import { readOnly } from '../configuration/storages.js';
import { demoVerifier } from '../configuration/verifiers.js';
import { createContainer, ids } from '../container.js';
import { openLogger } from '../telemetry/logger.js';
import { sentenceOf } from '../telemetry/observer.js';
import { maxFiles, type OwnProcess } from './own-process.js';

/** When a check gives up, in milliseconds since the process started. The rest of its 5 seconds is for ending. */
const END_MS = 4_600;
/** The longest that `ready` takes: also on a machine where starting takes long, the reason is printed. */
const READY_MS = 2_000;

/**
 * Checks that the systems that the configuration names can be reached, within 5 seconds. Resolves with the exit
 * code: 0 when all can be reached, otherwise 1. Does not wait until everything is closed: the caller ends the process,
 * because closing a connection to a server that hangs takes several seconds.
 *
 * Rejects with `ConfigurationError`, also when a variable is probably misspelt.
 */
export async function check(process: OwnProcess): Promise<number> {
  const warn = (line: string) => process.stderr.write(`plant-store: warning: ${line}\n`);
  const configuration = await readConfiguration(process.env, false);
  if (configuration.misspelt.length > 0) throw new ConfigurationError(configuration.misspelt);
  for (const line of advice(configuration, maxFiles())) warn(line);
  const verifier = configuration.verifier ?? demoVerifier();
  const storage = readOnly(configuration.storage, warn);
  const container = createContainer({ ...configuration, storage }, verifier, () =>
    openLogger({ LOG_FORMAT: 'json', LOG_LEVEL: 'silent' }, process.stderr),
  );
  const plants = await container.getAsync(ids.plantRepository);
  const tokens = await container.getAsync(ids.tokenVerifier);
  const reached = await Promise.all([
    report(process, `storage (${storage.name})`, plants, storage.variables),
    report(process, `token verifier (${verifier.name})`, tokens, verifier.variables),
  ]);
  void container.unbindAllAsync();
  process.stdout.write('checked by connecting: nothing was created or changed\n');
  return reached.every(Boolean) ? 0 : 1;
}

async function report(
  process: OwnProcess,
  name: string,
  part: { ready(): Promise<void> },
  variables: string | undefined,
): Promise<boolean> {
  const timeLimitMs = Math.max(READY_MS, END_MS - process.uptime() * 1000);
  const problem = await reasonNotReady(part, timeLimitMs);
  const result = problem === undefined ? 'ready' : `not ready, ${sentenceOf(problem, variables)}`;
  process.stdout.write(`${name}: ${result}\n`);
  return problem === undefined;
}

const PAUSE_MS = 500;

/** Resolves after `ms` milliseconds; rejects when the signal aborts. */
export type Pause = (
  ms: number,
  value: string,
  options: { signal: AbortSignal },
) => Promise<string>;

/**
 * Resolves with the reason why a part of the service is not ready; with `undefined` when it is ready. Leaves no timer.
 *
 * @param maxWaitMs How long the part may take to connect, or to elect a primary.
 */
export async function reasonNotReady(
  part: { ready(): Promise<void> },
  maxWaitMs: number,
  pause: Pause = wait,
): Promise<unknown> {
  const timeout = new AbortController();
  // This timer also keeps the process alive: a part that waits for an unknown host has no open handle.
  const expired = pause(maxWaitMs, 'expired', timeout).catch(() => 'expired');
  try {
    let problem: unknown = new Error('no response');
    for (;;) {
      const next = await Promise.race([problemOf(part), expired]);
      if (next === undefined) return undefined;
      if (next === 'expired') return problem;
      problem = next;
      await Promise.race([pause(PAUSE_MS, '', timeout).catch(() => ''), expired]);
    }
  } finally {
    timeout.abort();
  }
}

async function problemOf(part: { ready(): Promise<void> }): Promise<unknown> {
  return part.ready().then(
    () => undefined,
    (error: unknown) => error,
  );
}
