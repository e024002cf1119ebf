import { newToken } from '@plant-store/token-verifier-static';
import {
  type AdapterChoices,
  configureChosen,
  settingsOf,
  variablesThatChoose,
} from './adapter-choice.js';
import { lookAlikesIn } from './look-alikes.js';
import { brokenRules, type ServiceValues, serviceSettings } from './service-settings.js';
import {
  ConfigurationError,
  isSet,
  isTrial,
  readSettings,
  type Settings,
  withSecrets,
} from './setting.js';
import { type ConfiguredStore, MEMORY_DRAWBACK, stores } from './stores.js';
import { type ConfiguredVerifier, demoVerifier, verifiers } from './verifiers.js';

/** Every environment variable that the process reads. */
export const settings: Settings = {
  ...serviceSettings,
  ...settingsOf(stores),
  ...settingsOf(verifiers),
};

export interface Configuration extends Omit<ServiceValues, 'STORAGE'> {
  /** Whether `HOST` is not set. */
  readonly isHostDefault: boolean;
  readonly store: ConfiguredStore & { readonly name: string };
  readonly verifier: ConfiguredVerifier & { readonly name: string };
  /** The token that was made for this run, since no verifier was chosen. */
  readonly demoToken: string | undefined;
  /** A line for each unknown variable that resembles a setting. */
  readonly misspelt: readonly string[];
}

/**
 * Reads the configuration. Rejects with {@link ConfigurationError}, which names every problem and contains no secret.
 *
 * @param purpose For an import or export by a client, a store, a token verifier and a token are required. (In production,
 *   the first two always are.)
 */
export async function readConfiguration(
  given: NodeJS.ProcessEnv,
  purpose: 'service' | 'client' = 'service',
): Promise<Configuration> {
  const { env, problems } = withSecrets(settings, given);
  const isUnset = (name: string) => !isSet(name, settings, given);
  const noStore = STORE_VARIABLES.every(isUnset);
  const noVerifier = VERIFIER_VARIABLES.every(isUnset);
  const noToken = isUnset('ACCESS_TOKEN');
  const hasDefaults = isTrial(env) && purpose === 'service';
  const production = productionIn(given);
  const isDemo = hasDefaults && noVerifier && noToken && production === undefined;
  const demoToken = isDemo ? newToken() : undefined;
  const service = env.NODE_ENV === 'production' ? { DOCS: 'off', ...env } : env;
  const values = await collect(problems, () =>
    readSettings(serviceSettings, service, [], (valid) => brokenRules(valid, env)),
  );
  const chosen = noStore && hasDefaults ? { ...env, STORAGE: 'memory' } : env;
  const store = await collect(problems, () => configureChosen(stores, chosen, 'STORAGE'));
  const verifier = demoToken
    ? demoVerifier(demoToken)
    : await collect(problems, () => configureChosen(verifiers, env));
  if (noStore && !hasDefaults) problems.push(NO_STORE);
  if (noVerifier && !isDemo) problems.push(noToken ? noVerifierIn(production) : UNVERIFIED_TOKEN);
  if (purpose === 'client' && noToken) problems.push(NO_TOKEN);
  const lookAlikes = lookAlikesIn(given, settings);
  const needed = [
    'NODE_ENV',
    ...(noStore ? STORE_VARIABLES : variablesOf(stores, store)),
    ...(noVerifier ? ['ACCESS_TOKEN', ...VERIFIER_VARIABLES] : variablesOf(verifiers, verifier)),
  ].filter(isUnset);
  const harmful = lookAlikes.filter(({ setting }) => needed.includes(setting));
  problems.push(...harmful.map(({ problem }) => problem));
  const isComplete = values && store && verifier && problems.length === 0;
  if (!isComplete) throw new ConfigurationError(problems);
  const isHostDefault = given.HOST === undefined;
  const misspelt = lookAlikes.map(({ problem }) => problem);
  return { ...values, isHostDefault, store, verifier, demoToken, misspelt };
}

const STORE_VARIABLES = ['STORAGE', ...Object.keys(settingsOf(stores))];
const VERIFIER_VARIABLES = Object.keys(settingsOf(verifiers));

/** Returns the variables that a chosen adapter reads. */
function variablesOf(
  choices: AdapterChoices<unknown>,
  chosen: { readonly name: string } | undefined,
): string[] {
  return chosen ? Object.keys(choices[chosen.name]?.settings ?? {}) : [];
}

/** Resolves as the step does; with `undefined` after adding its problems. */
async function collect<T>(problems: string[], step: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

const NO_STORE = `STORAGE: not set. Set ${variablesThatChoose(stores)}, or STORAGE=memory (${MEMORY_DRAWBACK})`;
const UNVERIFIED_TOKEN =
  'ACCESS_TOKEN: set, but nothing verifies it. Set ACCESS_TOKEN_SHA256 to its digest, which `printf %s "$ACCESS_TOKEN" | sha256sum` prints, or set another way to verify tokens';
const NO_TOKEN =
  'ACCESS_TOKEN: not set, but required for imports and exports. Set it to a token that the service accepts, or ACCESS_TOKEN_FILE to a file that contains one';

/** Returns a variable that says that this is production, even if this service does not use it. */
function productionIn(given: NodeJS.ProcessEnv): string | undefined {
  return Object.keys(given).find((it) => /ENV/i.test(it) && /^\s*prod/i.test(`${given[it]}`));
}

function noVerifierIn(production: string | undefined): string {
  const why = production ? `, which production needs (as ${production} says)` : '';
  return `ACCESS_TOKENS_FILE: not set, and no other token verifier is configured${why}. Set ${variablesThatChoose(verifiers)}`;
}

/** How late the server reports, at most, that a request did not arrive in time. */
const LATENESS_MS = 1000;

/** A platform that only sets `PORT` would find nothing there. */
const LOOPBACK_ONLY =
  'HOST: not set, so only programs on this machine can reach the service. Set it to 0.0.0.0 for every address, or to 127.0.0.1 to keep it so';

/** Returns warnings about valid but inadvisable settings. Each names the variable, the reason and the fix. */
export function advice(configuration: Configuration): string[] {
  const { REQUEST_TIMEOUT_MS, REQUEST_DEADLINE_MS, store, verifier } = configuration;
  const longestMs = REQUEST_TIMEOUT_MS + LATENESS_MS + REQUEST_DEADLINE_MS;
  const shutdown = `SHUTDOWN_TIMEOUT_MS: a shutdown may cut off requests, which can take up to ${longestMs} ms (REQUEST_TIMEOUT_MS + REQUEST_DEADLINE_MS + ${LATENESS_MS} ms). Set it to ${longestMs} or more`;
  return [
    ...configuration.misspelt,
    configuration.NODE_ENV === 'production' && configuration.isHostDefault && LOOPBACK_ONLY,
    configuration.SHUTDOWN_TIMEOUT_MS < longestMs && shutdown,
    ...(store.advice?.(configuration) ?? []),
    verifier.advice,
  ].filter((line) => typeof line === 'string');
}
