import { ConfigurationError } from './configuration-error.js';
import { areComplete, readSettings, type ValuesWith } from './read-settings.js';
import type { Settings } from './setting.js';

/** An adapter of a port that the service can be configured to use. */
export interface Adapter<Configured> {
  /** Its environment variables. Setting any of them chooses the adapter. */
  readonly settings: Settings;
  /** The variables that the adapter requires. */
  readonly required: readonly string[];
  /** Reads its variables. Rejects with {@link ConfigurationError}, with every problem. */
  configure(env: NodeJS.ProcessEnv): Promise<Configured>;
}

/** All adapters of one port, by name. */
export type Adapters<Configured> = Readonly<Record<string, Adapter<Configured>>>;

/** The definition of an adapter. */
interface Definition<Table extends Settings, Required extends keyof Table & string, Configured> {
  readonly settings: Table;
  readonly required: readonly Required[];
  /** May reject with {@link ConfigurationError} for problems that no single setting can find. */
  readonly configure: (values: ValuesWith<Table, Required>) => Configured | Promise<Configured>;
}

/** Defines an adapter: `configure` gets the values of its variables, each with its own type. */
export function adapter<
  Configured,
  const Table extends Settings,
  const Required extends keyof Table & string = never,
>({ settings, required, configure }: Definition<Table, Required, Configured>): Adapter<Configured> {
  return {
    settings,
    required,
    async configure(env) {
      const { values, problems } = readSettings(settings, env);
      if (problems.length > 0 || !areComplete(settings, values, required)) {
        throw new ConfigurationError(problems);
      }
      return configure(values);
    },
  };
}

/** A variable that chooses the adapter by name, when it is set. */
interface Selector {
  readonly variable: string;
  readonly name: string | undefined;
}

/**
 * Configures the one adapter that is chosen, by name or by its variables. Resolves with `undefined`
 * when none is.
 *
 * Rejects with {@link ConfigurationError} when several are chosen, or when its variables are invalid.
 */
export async function configureChosen<Configured>(
  adapters: Adapters<Configured>,
  env: NodeJS.ProcessEnv,
  selector?: Selector,
): Promise<(Configured & { readonly name: string }) | undefined> {
  const candidates = Object.entries(adapters).map(([name, candidate]) => ({
    ...candidate,
    name,
    given: Object.keys(candidate.settings).filter((variable) => env[variable] !== undefined),
  }));
  const given = candidates.filter((it) => it.given.length > 0);
  const chosen = candidates.find(({ name }) => name === selector?.name) ?? given[0];
  if (chosen === undefined) return undefined;
  const others = given.filter((it) => it !== chosen);
  const problems =
    others.length > 0
      ? [conflict(adapters, [chosen, ...others], selector)]
      : missing(chosen, env, selector);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { ...(await chosen.configure(env)), name: chosen.name };
}

/** An adapter, and the variables of it that are set. */
interface Candidate extends Pick<Adapter<unknown>, 'required'> {
  readonly name: string;
  readonly given: readonly string[];
}

function conflict(
  adapters: Adapters<unknown>,
  [chosen, ...others]: readonly Candidate[],
  selector: Selector | undefined,
): string {
  if (selector?.name === undefined) {
    const variables = [chosen, ...others].map((it) => it?.given[0]).join(', ');
    return `${variables}: expected only one of ${variablesThatChoose(adapters)}. Unset the others`;
  }
  const expected = others.map(({ name }) => name).join(' or ');
  const variables = others.flatMap(({ given }) => given).join(', ');
  return `${selector.variable}: expected ${expected}, since ${variables} is set. Unset one of them`;
}

function missing(
  { name, required, given }: Candidate,
  env: NodeJS.ProcessEnv,
  selector: Selector | undefined,
): string[] {
  const [reason, way] =
    given.length > 0
      ? [`${given.join(', ')} is`, 'unset the others']
      : [`${selector?.variable}=${name}`, `choose another ${selector?.variable}`];
  return required
    .filter((variable) => env[variable] === undefined)
    .map((variable) => `${variable}: expected to be set, since ${reason}. Set it, or ${way}`);
}

/** Returns the variables that choose an adapter, as a text for messages. */
export function variablesThatChoose(adapters: Adapters<unknown>): string {
  const ways = Object.values(adapters)
    .map(({ required }) => required.join(' with '))
    .filter((way) => way !== '');
  return ways.length > 1 ? `${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}` : ways.join();
}

/** Returns the variables of all adapters of a port. */
export function settingsOf(adapters: Adapters<unknown>): Settings {
  return Object.fromEntries(
    Object.values(adapters).flatMap(({ settings }) => Object.entries(settings)),
  );
}
