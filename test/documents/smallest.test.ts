import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@plant-store/faulty-network';
import { expect } from 'chai';
import { readDocument } from '../markdown.js';
import { root } from '../root.js';
import { snippet } from './support/snippet.js';

const folder = join(root, 'examples/smallest');

/** A token and a body, and the response. */
const REQUESTS: readonly (readonly [token: string, body: string, response: unknown])[] = [
  ['demo', '{"id":1,"name":"Monstera","tag":"tropical"}', { name: 'Monstera', tag: 'tropical' }],
  ['demo', '{"id":1,"name":"Ficus"}', { error: 4006, message: 'a plant with this id exists' }],
  ['demo', '{"id":1.5,"name":"F"}', { error: 4005, message: 'id must be a safe integer' }],
  ['demo', '{', { error: 4000, message: 'the body is not valid JSON' }],
  ['other', '{', { error: 4010, message: 'invalid token' }],
];

describe('The smallest plant store', () => {
  it('has at most 120 lines', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
    const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('');
    expect(text.split('\n').length - 1).to.be.within(1, 120);
  });

  it('has a suite that reports a broken adapter: README.md', async function () {
    this.timeout(60_000);
    const { prose } = readDocument(root, 'README.md');
    const [, sound = '', broken = ''] = /Replace `(.+?)` by `(.+?)`/.exec(prose) ?? [];
    const copy = mkdtempSync(join(tmpdir(), 'plant-store-smallest-'));
    for (const name of ['node_modules', 'package.json', 'tsconfig.base.json'])
      symlinkSync(join(root, name), join(copy, name));
    const own = join(copy, 'examples/smallest');
    cpSync(folder, own, { recursive: true });
    rmSync(join(own, 'dist'), { recursive: true });
    const adapter = join(own, 'memory-plant-repository.ts');
    const text = readFileSync(adapter, 'utf8');
    expect(text.split(sound)).to.have.length(2);
    writeFileSync(adapter, text.replace(sound, broken));
    const command = snippet('README.md', 'npm run test:smallest');
    const ran = promisify(execFile)('bash', ['-c', command], { cwd: copy });
    const { stdout } = await ran.catch((error) => error);
    rmSync(copy, { recursive: true });
    const shown = stdout.replaceAll(/ \(\d+ms\)/g, '');
    expect(shown).to.include(snippet('README.md', '  MemoryPlantRepository'));
  });

  describe('as a program', () => {
    let program: ChildProcess;
    let url: string;

    before(async () => {
      const port = await freePort();
      url = `http://127.0.0.1:${port}/plants`;
      const env = { ...process.env, PORT: String(port) };
      program = spawn(process.execPath, [join(folder, 'dist/main.js')], { env, stdio: 'inherit' });
      while (!(await isReached(url))) expect(program.exitCode).to.equal(null);
    });

    after(async () => {
      program.kill();
      await once(program, 'exit');
    });

    it('creates plants, and reports each failure in one form', async () => {
      for (const [token, body, expected] of REQUESTS) {
        const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
        const response = await fetch(url, { method: 'POST', headers, body });
        expect(await response.json()).to.deep.equal(expected);
      }
    });
  });
});

const isReached = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  );
