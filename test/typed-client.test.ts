import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);

const folder = fileURLToPath(new URL('../typed-client/', import.meta.url));
const plantStore = fileURLToPath(new URL('../../packages/app/bin/plant-store.js', import.meta.url));
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

const TOKEN = 'a-token-for-the-typed-client';
const DIGEST = createHash('sha256').update(TOKEN).digest('hex');

describe('a typed client generated from the interface description', function () {
  this.timeout(120_000);

  let service: ChildProcess | undefined;

  after(() => {
    service?.kill();
  });

  /** Resolves with the address that the service says it listens on. */
  async function start(): Promise<string> {
    service = spawn(process.execPath, [plantStore], {
      env: { PATH: process.env.PATH, PORT: '0', ACCESS_TOKEN_SHA256: DIGEST, LOG_FORMAT: 'json' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (service.stdout === null) throw new Error('the service has no output');
    const [line] = await once(createInterface(service.stdout), 'line');
    return JSON.parse(line).address;
  }

  it('compiles, creates a plant, and understands a refusal', async () => {
    await mkdir(`${folder}generated`, { recursive: true });
    const { stdout: description } = await run(process.execPath, [plantStore, 'openapi']);
    await writeFile(`${folder}generated/openapi.json`, description);
    const generate = ['generate.js', 'generated/openapi.json', 'generated/schema.d.ts'];
    await run(process.execPath, generate, { cwd: folder });
    await run(process.execPath, [tsc, '-p', '.'], { cwd: folder });

    const { stdout } = await run(process.execPath, ['dist/calls.js', await start(), TOKEN], {
      cwd: folder,
    });
    expect(JSON.parse(stdout)).to.deep.equal({
      good: { status: 200, name: 'Monstera deliciosa', tag: 'tropical' },
      neighbour: { status: 200 },
      bad: { status: 400, error: 4006, message: 'id is taken: a plant with it exists' },
    });
  });
});
