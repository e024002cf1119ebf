import type { TokenVerifier } from '@plant-store/domain';
import { FaultyTokensError, StaticTokenVerifier } from '@plant-store/token-verifier-static';
import type { Logger } from 'pino';
import { type Authentication, tokensOf } from '../configuration/authentication.js';
import type { HangUps } from './hang-ups.js';

/**
 * Reads ACCESS_TOKENS_FILE again at every SIGHUP. When the new content is faulty, the tokens
 * stay as they were. Without a file the signal is only noted.
 */
export function reloadTokensOnHangup(
  hangUps: HangUps,
  authentication: Authentication,
  verifier: TokenVerifier,
  logger: Logger,
): void {
  const file = authentication.kind === 'static' ? authentication.file : undefined;
  hangUps.listen(() => {
    if (file === undefined || !(verifier instanceof StaticTokenVerifier)) {
      logger.info('SIGHUP: there is no ACCESS_TOKENS_FILE to read again');
      return;
    }
    try {
      const tokens = tokensOf(file);
      verifier.replace(tokens);
      logger.info({ tokens: tokens.length }, 'ACCESS_TOKENS_FILE: read again');
    } catch (error) {
      const problems = error instanceof FaultyTokensError ? error.problems : [String(error)];
      logger.error({ problems }, 'ACCESS_TOKENS_FILE: faulty, the tokens stay as they were');
    }
  });
}
