import { setTimeout as wait } from 'node:timers/promises';
import type { TokenVerifier } from '@plant-store/domain';
import type { StoreEvent } from '@plant-store/plant-repository-group-commit';
import { advice, readConfiguration } from '../configuration/configuration.js';
import { sentenceOf } from '../messages/wording.js';
import { type OwnProcess, printProblem } from './own-process.js';

/** How long a part may take to connect, or to elect a primary. */
const MAX_WAIT_MS = 4_000;

const PAUSE_MS = 500;

/** Resolves with the exit code: 0 if everything was reached. Rejects with `ConfigurationError`. */
export async function check(process: OwnProcess): Promise<number> {
  const warn = (line: string) => printProblem(process, `warning: ${line}`);
  const configuration = await readConfiguration(process.env);
  for (const line of advice(configuration)) warn(line);
  const { store, verifier } = configuration;
  const warnOf = (event: StoreEvent) => {
    if (event.type !== 'store warning') return;
    warn(event.message);
    if (event.command) printProblem(process, `run: ${event.command}`);
  };
  const plants = await store.open({ observer: warnOf, purpose: 'check' });
  // An outage is reported below.
  const tokens = await verifier.open(() => undefined);
  const reached = await Promise.all([
    report(process, `store (${store.name})`, plants, store.variables),
    report(process, `token verifier (${verifier.name})`, tokens, verifier.variables),
  ]);
  // If a server hangs, this takes several seconds, so it is not awaited: the caller exits the process.
  void Promise.allSettled([plants.close(), tokens.close()]);
  process.stdout.write('connections checked; nothing was created or changed\n');
  return reached.every(Boolean) ? 0 : 1;
}

async function report(
  process: OwnProcess,
  name: string,
  part: Part,
  variables: string | undefined,
): Promise<boolean> {
  const problem = await reasonNotReady(part);
  const result = problem === undefined ? 'ready' : `not ready: ${sentenceOf(problem, variables)}`;
  process.stdout.write(`${name}: ${result}\n`);
  return problem === undefined;
}

type Part = Pick<TokenVerifier, 'ready'>;

/** Resolves with the reason why a part of the service is not ready; with `undefined` when it is. */
export async function reasonNotReady(part: Part): Promise<unknown> {
  const end = performance.now() + MAX_WAIT_MS;
  let problem: unknown = new Error('no response');
  const attempts = async () => {
    while (problem !== undefined && performance.now() < end) {
      problem = await part.ready().catch((error: unknown) => error);
      if (problem !== undefined) await wait(PAUSE_MS);
    }
  };
  // The timer keeps the process alive too: a part that waits for an unknown host has no open handle.
  await Promise.race([attempts(), wait(MAX_WAIT_MS)]);
  return problem;
}
