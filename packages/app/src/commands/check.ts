import { advice, readConfiguration } from '../configuration/configuration.js';
import { type ConfiguredStorage, readOnly } from '../configuration/storages.js';
import { demoVerifier } from '../configuration/verifiers.js';
import { createContainer, ids } from '../container.js';
import { openLogger } from '../telemetry/logger.js';
import { sentenceOf } from '../telemetry/observer.js';
import type { Host } from './host.js';
import { reasonNotReady } from './reason-not-ready.js';

/** When a check gives up, in milliseconds since the process started. The rest of its 5 seconds is for ending. */
const END_MS = 4_600;
/** The longest that `ready` takes: also on a machine where starting takes long, the reason is printed. */
const READY_MS = 2_000;

/**
 * Checks that the systems that the configuration names can be reached, within 5 seconds. Resolves with the exit
 * code: 0 when all can be reached, otherwise 1. Does not wait until everything is closed: the caller ends the process,
 * because closing a connection to a server that hangs takes several seconds.
 */
export async function check(host: Host): Promise<number> {
  const { container, storage, verifier } = await open(host);
  const plants = await container.getAsync(ids.plantRepository);
  const tokens = await container.getAsync(ids.tokenVerifier);
  const reached = await Promise.all([
    report(host, `storage (${storage.name})`, plants, storage.variables),
    report(host, `token verifier (${verifier.name})`, tokens, verifier.variables),
  ]);
  for (const part of [plants, tokens]) void part.close();
  host.stdout.write('checked by connecting: nothing was created or changed\n');
  return reached.every(Boolean) ? 0 : 1;
}

async function open({ env, stderr }: Host) {
  const warn = (line: string) => stderr.write(`plant-store: warning: ${line}\n`);
  const configuration = await readConfiguration(env, false);
  const logger = await openLogger({ LOG_FORMAT: 'json', LOG_LEVEL: 'silent' }, stderr);
  const verifier = configuration.verifier ?? demoVerifier();
  for (const line of advice(configuration)) warn(line);
  const storage = withWarnings(readOnly(configuration.storage), warn);
  const container = createContainer({ ...configuration, storage }, verifier, logger);
  return { container, storage, verifier };
}

/** Returns the storage; its warnings go to `warn`. */
function withWarnings<Storage extends ConfiguredStorage>(
  storage: Storage,
  warn: (line: string) => void,
): Storage {
  const open: ConfiguredStorage['open'] = (observer, tracer) =>
    storage.open((event) => {
      if (event.type === 'storage warning') warn(event.message);
      observer(event);
    }, tracer);
  return { ...storage, open };
}

async function report(
  host: Host,
  name: string,
  part: { ready(): Promise<void> },
  variables: string | undefined,
): Promise<boolean> {
  const timeLimitMs = Math.max(READY_MS, END_MS - host.uptime() * 1000);
  const problem = await reasonNotReady(part, timeLimitMs);
  const result = problem === undefined ? 'ready' : `not ready, ${sentenceOf(problem, variables)}`;
  host.stdout.write(`${name}: ${result}\n`);
  return problem === undefined;
}
