import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@plant-store/faulty-network';
import { expect } from 'chai';
import { root } from '../root.js';

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
