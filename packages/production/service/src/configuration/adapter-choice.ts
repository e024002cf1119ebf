import { anyOf } from '../messages/wording.js';
import {
  ConfigurationError,
  isTrial,
  namesOf,
  readSettings,
  type Settings,
  type ValuesOf,
} from './setting.js';

export interface AdapterChoice<Configured> {
  /** Its environment variables. Setting any of them chooses the adapter. */
  readonly settings: Settings;
  /** Reads its variables; `given` names the ones that are set. Rejects with `ConfigurationError`, with every problem. */
  configure(env: NodeJS.ProcessEnv, given: readonly string[]): Promise<Configured>;
}

/** The choices of one port, by the names of the adapters. */
export type AdapterChoices<Configured> = Readonly<Record<string, AdapterChoice<Configured>>>;

/** Defines a choice: `configure` gets the values of its variables, each with its own type. */
export function choice<Configured, const Table extends Settings>(definition: {
  readonly settings: Table;
  /** May reject with `ConfigurationError` for problems that no single setting can find. */
  configure(
    values: ValuesOf<Table>,
    run: { readonly isTrial: boolean },
  ): Configured | Promise<Configured>;
}): AdapterChoice<Configured> {
  const { settings } = definition;
  return {
    settings,
    configure: async (env, given) =>
      definition.configure(readSettings(settings, env, given), { isTrial: isTrial(env) }),
  };
}

/**
 * Configures the one adapter whose variables are set. Resolves with `undefined` when none is. Rejects with
 * `ConfigurationError` when variables of several adapters are set, or when its variables are invalid.
 *
 * @param selector A variable that belongs to the adapter that it names.
 */
export async function configureChosen<Configured>(
  choices: AdapterChoices<Configured>,
  env: NodeJS.ProcessEnv,
  selector = '',
): Promise<(Configured & { readonly name: string }) | undefined> {
  const candidates = Object.entries(choices).flatMap(([name, adapter]) => {
    const variables = Object.keys(adapter.settings).filter((it) => env[it] !== undefined);
    const given = env[selector] === name ? [selector, ...variables] : variables;
    return given.length === 0 ? [] : [{ name, adapter, given }];
  });
  if (candidates.length > 1) {
    const variables = candidates.flatMap(({ given }) => given).join(', ');
    const found = candidates.map(({ name, given }) => `${given.join(', ')} for ${name}`).join('; ');
    throw new ConfigurationError([
      `${variables}: these choose more than one database or token verifier (${found}). Keep one and unset the others`,
    ]);
  }
  const [chosen] = candidates;
  return chosen && { ...(await chosen.adapter.configure(env, chosen.given)), name: chosen.name };
}

/** Returns the variables that choose an adapter, as a text for messages. */
export function variablesThatChoose(choices: AdapterChoices<unknown>): string {
  const ways = Object.values(choices).map((it) => namesOf(it.settings, 'required').join(' with '));
  return anyOf(ways.filter((way) => way !== ''));
}

export function settingsOf(choices: AdapterChoices<unknown>): Settings {
  return Object.assign({}, ...Object.values(choices).map(({ settings }) => settings));
}
