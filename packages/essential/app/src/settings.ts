import { BASE_PATH } from '@plant-store/http-koa';
import { mongoUriProblem } from '@plant-store/plant-repository-mongodb';
import {
  InvalidTokensError,
  parseTokensList,
  type TokenDigest,
} from '@plant-store/token-verifier-static';
import * as v from 'valibot';

/** The SHA-256 digest of `demo`, a token for development: everybody knows it. */
const DEMO = '2a97516c354b68848cdbd8f54a226a0a55b21ed138e207ad6c5cbb9c00aa5aea';
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

const number = (fallback: number, min: number, max: number) =>
  v.optional(
    v.pipe(v.string(), v.digits(), v.toNumber(), v.minValue(min), v.maxValue(max)),
    `${fallback}`,
  );

/** Converts digests separated by commas. */
const digests = v.rawTransform<string, TokenDigest[]>(({ dataset, addIssue, NEVER }) => {
  try {
    return parseTokensList(dataset.value);
  } catch (error) {
    if (!(error instanceof InvalidTokensError)) throw error;
    addIssue({ message: error.message });
    return NEVER;
  }
});

const mongoUri = v.check(
  (uri: string) => mongoUriProblem(uri) === undefined,
  ({ input }) => mongoUriProblem(input) ?? '',
);

/** The environment variables, with their rules and defaults. */
const environment = v.pipe(
  v.object({
    HOST: v.optional(v.pipe(v.string(), v.nonEmpty()), '127.0.0.1'),
    PORT: number(3000, 0, 65_535),
    BASE_PATH: v.optional(v.pipe(v.string(), v.regex(BASE_PATH)), ''),
    BODY_LIMIT: number(16_384, 1, 16_000_000),
    REQUEST_DEADLINE_MS: number(15_000, 1, 86_400_000),
    ACCESS_TOKEN_SHA256: v.optional(v.pipe(v.string(), digests), DEMO),
    /** Without it, plants are kept in memory. */
    MONGODB_URI: v.optional(v.pipe(v.string(), mongoUri)),
    MONGODB_COLLECTION: v.optional(v.pipe(v.string(), v.nonEmpty()), 'plants'),
  }),
  v.forward(
    v.check(
      ({ HOST, ACCESS_TOKEN_SHA256 }) =>
        LOOPBACK.includes(HOST) ||
        ACCESS_TOKEN_SHA256.every((it) => it.sha256.toLowerCase() !== DEMO),
      'the token `demo` is only for this machine: set the digest of a secret token, or HOST=127.0.0.1',
    ),
    ['ACCESS_TOKEN_SHA256'],
  ),
);

export type Settings = v.InferOutput<typeof environment>;

/** @throws {Error} that names each invalid variable. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const { success, output, issues } = v.safeParse(environment, env);
  if (success) return output;
  throw new Error(issues.map((it) => `${v.getDotPath(it)}: ${it.message}`).join('\n'));
}
