import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ACCESS_TOKEN_SHA256, endAll, serve, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { root } from '../root.js';

const run = promisify(execFile);

const folder = join(root, 'test/documents/typed-client/');
const tsc = join(root, 'node_modules/typescript/bin/tsc');

describe('A typed client that is generated from the interface description', function () {
  this.timeout(120_000);

  after(endAll);

  it('compiles, creates a plant, and reads an error', async () => {
    await mkdir(`${folder}generated`, { recursive: true });
    const { address } = await serve({ ACCESS_TOKEN_SHA256 });
    const description = await fetch(`${address}/openapi.json`);
    await writeFile(`${folder}generated/openapi.json`, await description.text());
    const generate = ['generate.js', 'generated/openapi.json', 'generated/schema.d.ts'];
    await run(process.execPath, generate, { cwd: folder });
    await run(process.execPath, [tsc, '-p', '.'], { cwd: folder });
    const calls = ['dist/calls.js', address, TOKEN];
    const { stdout } = await run(process.execPath, calls, { cwd: folder });
    expect(JSON.parse(stdout)).to.deep.equal({
      good: { status: 200, name: 'Monstera deliciosa', tag: 'tropical' },
      neighbour: { status: 200 },
      bad: { status: 400, error: 4006, message: 'id is taken: a plant with this id exists' },
    });
  });
});
