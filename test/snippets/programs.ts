import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './snippet.js';

const run = promisify(execFile);

/** The configuration of the compiler, which allows unused constants in snippets. */
const CONFIGURATION = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: {
    composite: false,
    noUnusedLocals: false,
    target: 'ES2023',
    types: ['node', 'mocha'],
  },
  include: ['*.ts'],
};

/** Modules in a temporary folder from which the packages of the project can be imported. */
export class Programs {
  readonly #folder = mkdtempSync(join(root, 'test/dist/snippets-'));

  write(name: string, text: string): void {
    writeFileSync(join(this.#folder, `${name}.ts`), text);
  }

  /** Compiles all modules. Rejects with the output of the compiler. */
  async compile(): Promise<void> {
    const project = join(this.#folder, 'tsconfig.json');
    writeFileSync(project, JSON.stringify(CONFIGURATION));
    await this.#node(join(root, 'node_modules/typescript/bin/tsc'), '-p', project);
  }

  /** Runs a module and resolves with its output. Rejects with the output when it fails. */
  run(name: string): Promise<string> {
    return this.#node(this.#compiled(name));
  }

  /** Resolves with Mocha's list of the tests of a module. */
  list(name: string): Promise<string> {
    const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
    return this.#node(mocha, '--no-config', '--dry-run', this.#compiled(name));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #compiled(name: string): string {
    return join(this.#folder, `${name}.js`);
  }

  async #node(...args: string[]): Promise<string> {
    const running = run(process.execPath, args);
    running.child.stdin?.end();
    const { stdout } = await running.catch((error) => {
      throw new Error(`${error.stdout}${error.stderr}`, { cause: error });
    });
    return stdout;
  }
}
