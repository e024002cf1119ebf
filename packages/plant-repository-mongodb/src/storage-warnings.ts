import type { StorageObserver } from '@plant-store/domain';

const STANDALONE =
  'the server is a standalone one: it keeps no second copy. Run a replica set to lose nothing';
export const DENIED = 'plants are turned away: the permissions to read and insert them are missing';
export const NO_CREDENTIALS =
  'plants are turned away: the server asks for credentials, and the connection string has none';

/** What an administrator should fix, and the command that does it, if there is one. */
export interface StorageWarning {
  readonly message: string;
  readonly command?: string;
}

/** Reports each warning to an observer once. */
export class StorageWarnings {
  readonly #observe: StorageObserver;
  readonly #told = new Set<string>();

  constructor(observe: StorageObserver) {
    this.#observe = observe;
  }

  tell(warning: StorageWarning): void {
    if (this.#told.has(warning.message)) return;
    this.#told.add(warning.message);
    this.#observe({ type: 'storage warning', ...warning });
  }

  standalone(): void {
    this.tell({ message: STANDALONE });
  }

  denied(database: string): void {
    const role = JSON.stringify([{ role: 'readWrite', db: database }]);
    const command = `db.grantRolesToUser('<the user of the service>', ${role})`;
    this.tell({ message: DENIED, command });
  }

  unusable({ message }: Error): void {
    this.tell({ message: `plants are turned away: ${message}` });
  }

  notSetUp({ message }: Error): void {
    this.tell({ message: `the collection is not set up yet: ${message}` });
  }

  noCredentials(): void {
    this.tell({ message: NO_CREDENTIALS });
  }
}
