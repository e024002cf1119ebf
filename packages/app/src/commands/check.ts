import { setTimeout as wait } from 'node:timers/promises';
import { StorageUnavailableError } from '@plant-store/domain';
import { readConfiguration } from '../configuration/configuration.js';
import { demoVerifier } from '../configuration/verifiers.js';
import { createContainer, ids } from '../container.js';
import { openLogger } from '../telemetry/logger.js';
import { sentenceOf } from '../telemetry/observer.js';

/** What is left of the 5 seconds is for closing. */
const PATIENCE_MS = 4500;
const PAUSE_MS = 100;

/** A part of the service that reaches something outside. */
interface Part {
  readonly name: string;
  /** What names the place that is reached. */
  readonly variables?: string | undefined;
  ready(): Promise<void>;
}

/**
 * Reaches what the configuration names, within 5 seconds. Resolves with the exit code: 0 when all of
 * it is there, otherwise 1.
 */
export async function check(): Promise<number> {
  const { container, storage, verifier } = await open();
  const plants = await container.getAsync(ids.plantRepository);
  const tokens = await container.getAsync(ids.tokenVerifier);
  const reached = await Promise.all([
    report({
      name: `storage (${storage.name})`,
      variables: storage.variables,
      ready: () => plants.ready(),
    }),
    report({
      name: `token verifier (${verifier.name})`,
      variables: verifier.variables,
      ready: () => tokens.ready(),
    }),
  ]);
  await Promise.all([plants.close(), tokens.close()]);
  return reached.every(Boolean) ? 0 : 1;
}

async function open() {
  const configuration = await readConfiguration(process.env, process.stdout.isTTY);
  const logger = await openLogger({ LOG_FORMAT: 'json', LOG_LEVEL: 'silent' });
  const verifier = configuration.verifier ?? demoVerifier();
  const container = createContainer(configuration, verifier, logger);
  return { container, storage: configuration.storage, verifier };
}

async function report(part: Part): Promise<boolean> {
  const reason = await reasonNotReady(part);
  const result = reason === undefined ? 'ready' : `not ready, ${reason}`;
  process.stdout.write(`${part.name}: ${result}\n`);
  return reason === undefined;
}

/** What has only begun to connect gets some time to do so. What refuses at once gets none. */
async function reasonNotReady(part: Part): Promise<string | undefined> {
  const patience = new AbortController();
  // Also keeps the process alive: a part that waits for a host that it does not know has nothing that does.
  const expired = wait(PATIENCE_MS, 'expired', patience).catch(() => 'expired');
  try {
    let problem: unknown = new Error('it does not respond');
    for (;;) {
      const next = await Promise.race([problemOf(part), expired]);
      if (next === undefined) return undefined;
      if (next !== 'expired') problem = next;
      const waits = problem instanceof StorageUnavailableError && problem.waits;
      if (next === 'expired' || !waits) return sentenceOf(problem, part.variables);
      await Promise.race([wait(PAUSE_MS), expired]);
    }
  } finally {
    patience.abort();
  }
}

async function problemOf(part: Part): Promise<unknown> {
  return part.ready().then(
    () => undefined,
    (error: unknown) => error,
  );
}
