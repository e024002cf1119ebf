import type { StoreObserver } from '@plant-store/plant-repository-group-commit';
import type { PlantClient } from './plant-store-client.js';
import { StoreError, withServerText } from './postgresql-error.js';
import { statementsFor } from './statements.js';
import { absentColumn, EXAMINE, type TableState, TORN_PAGES, type Warning } from './table.js';

/** The table `plants` as the latest examination has found it. */
export class ExaminedTable {
  /** For the columns that were found. */
  statements = statementsFor([]);
  readonly #user: string | undefined;
  readonly #observe: StoreObserver;
  /** Checks run every second and would repeat each warning. */
  readonly #warned = new Set<string>();

  /** @param user The role of the service. */
  constructor(user: string | undefined, observe: StoreObserver) {
    this.#user = user;
    this.#observe = observe;
  }

  /** Waits for no lock. Rejects if the table cannot keep plants. Resolves with whether a standby was read. */
  async examine(client: PlantClient): Promise<boolean> {
    const { rows } = await client.query<TableState>(EXAMINE).catch((error: unknown) => {
      throw withServerText(error);
    });
    const { unusable = [], torn, absent = [], in_recovery = false } = rows[0] ?? {};
    const [why, command] = unusable;
    // Only a new connection follows what an administrator corrects with ALTER ROLE.
    if (why) throw new StoreError(why, { finding: 'unusable', command, reconnects: true });
    if (torn) this.warn(TORN_PAGES);
    this.statements = statementsFor(absent);
    for (const column of absent) this.warn(absentColumn(column));
    return in_recovery;
  }

  /** Reports what an administrator should correct, once. */
  warn({ message, command }: Warning): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    const fix = command?.replace('$USER', `"${this.#user}"`);
    this.#observe({ type: 'store warning', message, ...(fix && { command: fix }) });
  }
}
