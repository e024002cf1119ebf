import { advice, readConfiguration } from '../configuration/configuration.js';
import { type ConfiguredStorage, readOnly } from '../configuration/storages.js';
import { demoVerifier } from '../configuration/verifiers.js';
import { createContainer, ids } from '../container.js';
import { openLogger } from '../telemetry/logger.js';
import { sentenceOf } from '../telemetry/observer.js';
import { reasonNotReady } from './reason-not-ready.js';

/** A part of the service that uses another system. */
interface Part {
  readonly name: string;
  /** The variables that name the other system. */
  readonly variables?: string | undefined;
  ready(): Promise<void>;
}

/**
 * Checks that the systems that the configuration names can be reached, within 5 seconds. Resolves with the exit
 * code: 0 when all can be reached, otherwise 1. Closes nothing: the caller ends the process, because closing a
 * connection to a server that hangs takes several seconds.
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
  process.stdout.write('checked by connecting: nothing was created or changed\n');
  return reached.every(Boolean) ? 0 : 1;
}

async function open() {
  const configuration = await readConfiguration(process.env, process.stdout.isTTY);
  const logger = await openLogger({ LOG_FORMAT: 'json', LOG_LEVEL: 'silent' });
  const verifier = configuration.verifier ?? demoVerifier();
  for (const line of advice(configuration)) warn(line);
  const storage = withWarnings(readOnly(configuration.storage));
  const container = createContainer({ ...configuration, storage }, verifier, logger);
  return { container, storage, verifier };
}

/** Returns the storage with its warnings on standard error. */
function withWarnings<Storage extends ConfiguredStorage>(storage: Storage): Storage {
  const open: ConfiguredStorage['open'] = (observer, tracer) =>
    storage.open((event) => {
      if (event.type === 'storage warning') warn(event.message);
      observer(event);
    }, tracer);
  return { ...storage, open };
}

function warn(line: string): void {
  process.stderr.write(`plant-store: warning: ${line}\n`);
}

async function report(part: Part): Promise<boolean> {
  const problem = await reasonNotReady(part);
  const result =
    problem === undefined ? 'ready' : `not ready, ${sentenceOf(problem, part.variables)}`;
  process.stdout.write(`${part.name}: ${result}\n`);
  return problem === undefined;
}
