import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';

interface Options {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program. Resolves with what it prints. Rejects with an error that has it too when the program fails. */
export function run(program: string, args: readonly string[], options: Options = {}) {
  return promisify(execFile)(program, args, options).catch((error: ExecFileException) => {
    error.message += error.stdout ?? '';
    throw error;
  });
}
