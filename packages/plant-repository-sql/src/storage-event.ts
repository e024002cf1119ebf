/** An event of the storage, for logs and metrics. None holds a password, or anything of a plant but its id. */
export type StorageEvent =
  | {
      /** An alert: the database refuses a plant that the domain accepts. A bug, or a rule of an administrator. */
      readonly type: 'plant refused';
      readonly id: bigint;
      /** The server's own error code. */
      readonly code: string;
      /** Why the database refuses the plant, without any value of the plant. */
      readonly reason: string;
    }
  | {
      /** Something that an administrator should fix. Reported once. */
      readonly type: 'storage warning';
      readonly message: string;
      /** The statements that fix it. */
      readonly command?: string;
    };

/** Receives each event as it happens. It must not throw, and must return quickly. */
export type StorageObserver = (event: StorageEvent) => void;
