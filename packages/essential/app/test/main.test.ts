import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const PROGRAM = fileURLToPath(new URL('../src/main.js', import.meta.url));
const BODY = '{"id":9223372036854775807,"name":"ä🌵","tag":"x"}';
const HEADERS = { authorization: 'Bearer demo', 'content-type': 'application/json' };

describe('The service', () => {
  let started: ChildProcess | undefined;
  afterEach(() => started?.kill('SIGKILL'));

  it('creates plants over HTTP, and ends on SIGTERM', async () => {
    const env = { ...process.env, PORT: '0', BASE_PATH: '/store' };
    const service = spawn(process.execPath, [PROGRAM], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    started = service;
    const exited = once(service, 'exit');
    const [line] = await once(service.stdout, 'data');
    const [, address] = /^Plant Store listens on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line) ?? [];
    const create = async (body: string, changed: Readonly<Record<string, string>> = {}) => {
      const headers = { ...HEADERS, ...changed };
      const response = await fetch(`${address}/store/plants`, { method: 'POST', headers, body });
      return [response.status, await response.json()] as const;
    };
    expect(await create(BODY)).to.deep.equal([200, { name: 'ä🌵', tag: 'x' }]);
    const failures: [body: string, headers: Record<string, string>, error: number][] = [
      [BODY, {}, 4006],
      ['{', {}, 4004],
      ['', {}, 4001],
      ['{"id":1}', {}, 4005],
      [' '.repeat(16_385), {}, 4003],
      [BODY, { 'content-type': 'text/plain' }, 4002],
      [BODY, { authorization: 'Bearer other' }, 4011],
      [BODY, { authorization: 'Basic x' }, 4010],
    ];
    for (const [body, headers, error] of failures) {
      const [, failure] = await create(body, headers);
      expect(failure, `${error}`).to.include({ error });
    }
    service.kill('SIGTERM');
    expect(await exited).to.deep.equal([0, null]);
  });
});
