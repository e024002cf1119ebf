import type { StorageObserver } from '@plant-store/domain';

const STANDALONE =
  'the server is a standalone: there is no second copy of the plants. Use a replica set';
/** The warning about missing permissions. */
export const DENIED = 'plants are refused: the permissions to read and insert them are missing';
/** The warning about missing credentials. */
export const NO_CREDENTIALS =
  'plants are refused: the server asks for credentials, and the connection string has none';

/** A problem for an administrator, and the command that fixes it, if there is one. */
export interface StorageWarning {
  readonly message: string;
  readonly command?: string;
}

/** Reports each warning to an observer, once. */
export class StorageWarnings {
  readonly #observe: StorageObserver;
  readonly #reported = new Set<string>();

  constructor(observe: StorageObserver) {
    this.#observe = observe;
  }

  report(warning: StorageWarning): void {
    if (this.#reported.has(warning.message)) return;
    this.#reported.add(warning.message);
    this.#observe({ type: 'storage warning', ...warning });
  }

  standalone(): void {
    this.report({ message: STANDALONE });
  }

  denied(database: string): void {
    const role = JSON.stringify([{ role: 'readWrite', db: database }]);
    const command = `db.grantRolesToUser('<the user of the service>', ${role})`;
    this.report({ message: DENIED, command });
  }

  unusable({ message }: Error): void {
    this.report({ message: `plants are refused: ${message}` });
  }

  notSetUp({ message }: Error): void {
    this.report({ message: `the collection is not set up yet: ${message}` });
  }

  noCredentials(): void {
    this.report({ message: NO_CREDENTIALS });
  }
}
