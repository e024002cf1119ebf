import type { Warnings } from '@plant-store/plant-repository-group-commit';
import type { PlantClient } from './plant-store-client.js';
import { PostgresqlStoreError, rejectWithServerText } from './postgresql-error.js';
import { statementsFor } from './statements.js';
import { absentColumn, EXAMINE, type TableState, TORN_PAGES } from './table.js';

/** The table `plants` as the latest examination has found it. */
export class ExaminedTable {
  readonly #warnings: Warnings;
  readonly #user: string | undefined;
  #statements = statementsFor([]);

  /** @param user The role of the service, which replaces `$USER` in the statements that correct the table. */
  constructor(warnings: Warnings, user: string | undefined) {
    this.#warnings = warnings;
    this.#user = user;
  }

  /** The statements that fit the columns of the table, as last examined. */
  get statements() {
    return this.#statements;
  }

  /**
   * Examines the table, without waiting for locks. Resolves with true if the server is a standby; rejects if the table
   * cannot store plants.
   */
  async examine(client: PlantClient): Promise<boolean> {
    const { rows } = await client.query<TableState>(EXAMINE).catch(rejectWithServerText);
    const { unusable = [], torn, absent = [], in_recovery = false } = rows[0] ?? {};
    const [why, template] = unusable;
    const command = template?.replace('$USER', `"${this.#user}"`);
    // What an administrator corrects with ALTER ROLE takes effect only in new connections.
    if (why) throw new PostgresqlStoreError('unusable', why, { command, reconnects: true });
    if (torn) this.#warnings.report(...TORN_PAGES);
    this.#statements = statementsFor(absent);
    for (const column of absent) this.#warnings.report(...absentColumn(column));
    return in_recovery;
  }
}
