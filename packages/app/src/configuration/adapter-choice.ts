import {
  areComplete,
  ConfigurationError,
  readSettings,
  type Settings,
  type ValuesWith,
} from './setting.js';

/** The choice of an adapter by the configuration. */
export interface AdapterChoice<Configured> {
  /** Its environment variables. Setting any of them chooses the adapter. */
  readonly settings: Settings;
  /** The variables that the adapter requires. */
  readonly required: readonly string[];
  /** Reads its variables. Rejects with {@link ConfigurationError}, with every problem. */
  configure(env: NodeJS.ProcessEnv): Promise<Configured>;
}

/** The choices of one port, by the names of the adapters. */
export type AdapterChoices<Configured> = Readonly<Record<string, AdapterChoice<Configured>>>;

/** The definition of a choice. */
interface Definition<Table extends Settings, Required extends keyof Table & string, Configured> {
  readonly settings: Table;
  readonly required: readonly Required[];
  /** May reject with {@link ConfigurationError} for problems that no single setting can find. */
  readonly configure: (
    values: ValuesWith<Table, Required>,
    service: { readonly production: boolean },
  ) => Configured | Promise<Configured>;
}

/** Defines a choice: `configure` gets the values of its variables, each with its own type. */
export function choice<
  Configured,
  const Table extends Settings,
  const Required extends keyof Table & string = never,
>({
  settings,
  required,
  configure,
}: Definition<Table, Required, Configured>): AdapterChoice<Configured> {
  return {
    settings,
    required,
    async configure(env) {
      const { values, problems } = readSettings(settings, env);
      if (problems.length > 0 || !areComplete(settings, values, required)) {
        throw new ConfigurationError(problems);
      }
      return configure(values, { production: env.NODE_ENV === 'production' });
    },
  };
}

/**
 * Configures the one adapter whose variables are set. Resolves with `undefined` when none is.
 *
 * Rejects with {@link ConfigurationError} when variables of several are set, or when those of the one are invalid.
 *
 * @param selector A variable that belongs to the adapter that it names.
 */
export async function configureChosen<Configured>(
  choices: AdapterChoices<Configured>,
  env: NodeJS.ProcessEnv,
  selector?: string,
): Promise<(Configured & { readonly name: string }) | undefined> {
  const given = Object.entries(choices)
    .map(([name, candidate]) => ({
      ...candidate,
      name,
      given: [
        ...(selector !== undefined && env[selector] === name ? [selector] : []),
        ...Object.keys(candidate.settings).filter((variable) => env[variable] !== undefined),
      ],
    }))
    .filter((it) => it.given.length > 0);
  const [chosen, ...others] = given;
  if (chosen === undefined) return undefined;
  const problems = others.length > 0 ? [conflict(given)] : missing(chosen, env);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { ...(await chosen.configure(env)), name: chosen.name };
}

/** An adapter, and the variables of it that are set. */
interface Candidate extends Pick<AdapterChoice<unknown>, 'required'> {
  readonly name: string;
  readonly given: readonly string[];
}

function conflict(candidates: readonly Candidate[]): string {
  const variables = candidates.flatMap(({ given }) => given).join(', ');
  const found = candidates.map(({ name, given }) => `${given.join(', ')} for ${name}`).join('; ');
  return `${variables}: expected the variables of one only, found ${found}. Unset the others`;
}

function missing({ required, given }: Candidate, env: NodeJS.ProcessEnv): string[] {
  const reason = `${given.join(', ')} ${given.length > 1 ? 'are' : 'is'} set`;
  return required
    .filter((variable) => env[variable] === undefined)
    .map((variable) => `${variable}: expected to be set, since ${reason}. Set it too, or neither`);
}

/** Returns the variables that choose an adapter, as a text for messages. */
export function variablesThatChoose(choices: AdapterChoices<unknown>): string {
  const ways = Object.values(choices)
    .map(({ required }) => required.join(' with '))
    .filter((way) => way !== '');
  return ways.length > 1 ? `${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}` : ways.join();
}

/** Returns the variables of all adapters of a port. */
export function settingsOf(choices: AdapterChoices<unknown>): Settings {
  return Object.fromEntries(
    Object.values(choices).flatMap(({ settings }) => Object.entries(settings)),
  );
}
