import type { Logger } from 'pino';
import { ConfigurationError } from '../configuration/configuration-error.js';
import type { HangUps } from './hang-ups.js';

/**
 * Makes the token verifier read its tokens again at every SIGHUP. When they are invalid, the old tokens stay
 * accepted. A verifier without a file ignores the signal.
 *
 * @param variables The variables that name the file, for the log.
 */
export function reloadTokensOnHangUp(
  hangUps: HangUps,
  reload: (() => number) | undefined,
  variables: string | undefined,
  logger: Logger,
): void {
  hangUps.listen(() => {
    if (reload === undefined) {
      logger.info('SIGHUP: there are no tokens to read again');
      return;
    }
    try {
      logger.info({ variables, tokens: reload() }, 'SIGHUP: the tokens were read again');
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const { problems } = error;
      logger.error({ problems }, 'SIGHUP: the new tokens are invalid, the old ones stay');
    }
  });
}
