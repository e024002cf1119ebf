import {
  type Client,
  InvalidTokenError,
  PermissionDeniedError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import type { Container } from 'inversify';
import { type Configuration, readConfiguration } from '../configuration/configuration.js';
import { ConfigurationError } from '../configuration/setting.js';
import { createContainer, ids } from '../container.js';
import { sentenceOf } from '../messages/sentence.js';
import { type OwnProcess, StartError } from './own-process.js';

/** What a command has that is a client of the service: an authenticated client, and the parts of the service. */
export interface Session {
  readonly container: Container;
  readonly client: Client;
  readonly configuration: Configuration;
}

/**
 * Runs a command that is a client of the service, with the token that the configuration has. Settles like `work`, after
 * it has closed everything.
 *
 * Rejects with `ConfigurationError` when the token is refused, or does not permit the work; with {@link StartError} when
 * it cannot be verified now.
 *
 * @param isReadOnly Whether nothing is changed in the database.
 */
export async function asClient<T>(
  { env, stderr }: OwnProcess,
  isReadOnly: boolean,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const given = await readConfiguration(env, true, true);
  // Without a problem, a command prints its own text only.
  const LOG_LEVEL = env.LOG_LEVEL === undefined ? 'warn' : given.LOG_LEVEL;
  const configuration = { ...given, LOG_LEVEL } as const;
  const container = createContainer(configuration, stderr, isReadOnly);
  try {
    const logger = await container.getAsync(ids.logger);
    for (const line of [...given.misspelt, ...given.foreign]) logger.warn(line);
    const tokenVerifier = await container.getAsync(ids.tokenVerifier);
    const client = await tokenVerifier.verify(given.ACCESS_TOKEN ?? '');
    return await work({ container, client, configuration });
  } catch (error) {
    throw problemWithToken(error, given) ?? error;
  } finally {
    await container.unbindAllAsync();
  }
}

function problemWithToken(error: unknown, { verifier }: Configuration): Error | undefined {
  if (error instanceof InvalidTokenError || error instanceof PermissionDeniedError) {
    const expected = `expected a token that the service accepts (${error.message})`;
    return new ConfigurationError([`ACCESS_TOKEN: ${expected}. Set it to another one`]);
  }
  if (!(error instanceof TokenVerifierUnavailableError)) return undefined;
  return new StartError(sentenceOf(error, verifier.variables), { cause: error });
}
