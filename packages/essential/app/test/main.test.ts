import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createContainer, ids, readSettings } from '@plant-store/app';
import { expect } from 'chai';

describe('The service', () => {
  it('creates plants over HTTP', async () => {
    const container = createContainer(readSettings({ BASE_PATH: '/store' }));
    const app = await container.getAsync(ids.app);
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/store/plants`;
    const headers = { authorization: 'Bearer demo', 'content-type': 'application/json' };
    const send = async (body: string, changed: Record<string, string> = {}) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, ...changed },
        body,
      });
      return [response.status, await response.json()] as const;
    };
    const body = '{"id":9223372036854775807,"name":"ä🌵","tag":"x"}';
    expect(await send(body)).to.deep.equal([200, { name: 'ä🌵', tag: 'x' }]);
    const errors: [body: string, headers: Record<string, string>, error: number][] = [
      [body, {}, 4006],
      ['{', {}, 4004],
      ['', {}, 4001],
      ['{"id":1}', {}, 4005],
      [' '.repeat(16_385), {}, 4003],
      [body, { 'content-type': 'text/plain' }, 4002],
      [body, { authorization: 'Bearer other' }, 4011],
      [body, { authorization: 'Basic x' }, 4010],
    ];
    for (const [text, changed, error] of errors) {
      const [, failure] = await send(text, changed);
      expect(failure, text.slice(0, 20)).to.include({ error });
    }
    server.close();
    server.closeAllConnections();
    await container.unbindAllAsync();
  });
});
