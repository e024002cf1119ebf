/** What a command uses of its process. `process` is one; tests run commands with others. */
export interface Host {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  once(signal: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
  /** Returns the seconds since the process started. */
  uptime(): number;
}

/** Standard output or standard error. */
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly fd?: number };
