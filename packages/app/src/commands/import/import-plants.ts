import {
  type Client,
  InvalidTokenError,
  PermissionDeniedError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { PlantImport, type Progress } from '@plant-store/import-ndjson';
import type { Container } from 'inversify';
import { ConfigurationError } from '../../configuration/configuration-error.js';
import {
  type ImportConfiguration,
  readImportConfiguration,
} from '../../configuration/import-configuration.js';
import { createContainer, ids } from '../../container.js';
import { openLogger } from '../../telemetry/logger.js';
import { sentenceOf } from '../../telemetry/observer.js';
import { StartError } from '../start-error.js';
import { nextSignal } from '../stop.js';
import { type ImportArguments, readImportArguments, resumeCommand } from './import-arguments.js';
import { type ImportInput, openInput, sizeOf } from './import-input.js';
import { openProgressDisplay } from './open-progress-display.js';
import { notStored, readable } from './pace.js';
import type { ProgressDisplay } from './progress-display.js';
import { type Rejects, RejectsFile, ShownRejects } from './rejects.js';

/**
 * Runs an import. Resolves with the exit code: 0 when every line is stored, otherwise 1.
 *
 * Rejects with `UsageError`, `ConfigurationError` or {@link StartError} before anything is stored.
 *
 * @param stopping Resolves with the signal that stops the import.
 */
export async function importPlants(
  args: readonly string[],
  stopping: Promise<string>,
): Promise<number> {
  const given = readImportArguments(args);
  const configuration = await readImportConfiguration(process.env, process.stderr.isTTY);
  const input = await openInput(given.file);
  const display = await openProgressDisplay(process.stderr);
  const container = await openContainer(configuration, display);
  try {
    const client = await authenticate(configuration, container);
    const rejects = openRejects(given, input, display);
    const plantImport = await openImport(container, client, given, rejects);
    void stopping.then((signal) => stop(signal, plantImport, given, display));
    display.start(plantImport, sizeOf(input));
    return await run(plantImport, input, given, display).finally(() => rejects.close());
  } finally {
    display.stop();
    input.stream.destroy();
    await close(container);
  }
}

async function openContainer(
  { configuration, verifier }: ImportConfiguration,
  { log }: ProgressDisplay,
): Promise<Container> {
  return createContainer(configuration, verifier, await openLogger(configuration, log));
}

async function close(container: Container): Promise<void> {
  const tokenVerifier = await container.getAsync(ids.tokenVerifier);
  const plantRepository = await container.getAsync(ids.plantRepository);
  await Promise.all([tokenVerifier.close(), plantRepository.close()]);
}

/** Authenticates the client of the import, once. */
async function authenticate(
  { token, verifier }: ImportConfiguration,
  container: Container,
): Promise<Client> {
  const tokenVerifier = await container.getAsync(ids.tokenVerifier);
  try {
    return await tokenVerifier.verify(token);
  } catch (error) {
    if (error instanceof InvalidTokenError) {
      throw new ConfigurationError([
        `ACCESS_TOKEN: expected a token that the service accepts (${error.message}). Set it to another one`,
      ]);
    }
    if (!(error instanceof TokenVerifierUnavailableError)) throw error;
    throw new StartError(sentenceOf(error, verifier.variables), { cause: error });
  }
}

function openRejects(
  { rejects, fromLine }: ImportArguments,
  { stats }: ImportInput,
  { log }: ProgressDisplay,
): Rejects {
  return rejects === undefined
    ? new ShownRejects(log)
    : new RejectsFile(rejects, stats, fromLine > 1);
}

async function openImport(
  container: Container,
  client: Client,
  { fromLine }: ImportArguments,
  rejects: Rejects,
): Promise<PlantImport> {
  const configuration = await container.getAsync(ids.configuration);
  const logger = await container.getAsync(ids.logger);
  return new PlantImport({
    createPlant: await container.getAsync(ids.createPlant),
    client,
    timeLimit: configuration.REQUEST_DEADLINE_MS,
    maxLineBytes: configuration.BODY_LIMIT,
    fromLine,
    record: (reject) => rejects.record(reject),
    failed: (line, err) => logger.error({ line, err }, 'a line failed'),
  });
}

/** Stops the import. The next signal ends the process at once. */
function stop(
  signal: string,
  plantImport: PlantImport,
  given: ImportArguments,
  { log }: ProgressDisplay,
): void {
  log.write(`${signal}: waiting for the plants in progress\n`);
  plantImport.stop();
  void nextSignal().then(() => {
    process.stderr.write(`To resume: ${resumeCommand(given, plantImport.progress.nextLine)}\n`);
    process.exit(1);
  });
}

/** Runs the import and writes the summary. Resolves with the exit code. */
async function run(
  plantImport: PlantImport,
  { stream }: ImportInput,
  given: ImportArguments,
  display: ProgressDisplay,
): Promise<number> {
  const began = performance.now();
  const { isComplete, problem } = await endOf(plantImport.run(stream));
  const { progress } = plantImport;
  display.stop();
  process.stdout.write(summaryOf(progress, (performance.now() - began) / 1000));
  if (problem !== undefined) process.stderr.write(`plant-store: import: ${problem}\n`);
  if (!isComplete) process.stdout.write(`To resume: ${resumeCommand(given, progress.nextLine)}\n`);
  return isComplete && notStored(progress) === 0 ? 0 : 1;
}

interface End {
  /** Whether the end of the input was reached. */
  readonly isComplete: boolean;
  readonly problem?: string;
}

async function endOf(running: Promise<boolean>): Promise<End> {
  try {
    return { isComplete: await running };
  } catch (error) {
    if (error instanceof PermissionDeniedError) {
      throw new ConfigurationError([
        'ACCESS_TOKEN: expected a token that permits creating plants. Set it to another one',
      ]);
    }
    // A system error is about the input or the rejects file. Any other error is a bug.
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    return { isComplete: false, problem: error.message };
  }
}

const OUTCOMES = ['stored', 'taken', 'invalid', 'unavailable', 'unknown', 'failed'] as const;

function summaryOf({ outcomes }: Progress, seconds: number): string {
  const counts = OUTCOMES.map((outcome) => `${outcome}: ${outcomes[outcome]}\n`);
  const speed = readable(outcomes.stored / seconds);
  return `${counts.join('')}${seconds.toFixed(1)} s, ${speed} plants a second\n`;
}
