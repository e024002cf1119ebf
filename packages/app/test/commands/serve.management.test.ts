import { once } from 'node:events';
import { expect } from 'chai';
import { build } from '../../src/build.js';
import { connectTo, metricsOf, serveHere, stopAll } from '../support/in-process.js';

const start = (env = {}) => serveHere({ MANAGEMENT_PORT: '0', ...env });

describe('The management listener', () => {
  afterEach(stopAll);

  it('has health checks and metrics, which the API does not have, and names the same build there, in the log and in the interface description', async () => {
    const service = await start();
    const { address, management, out } = service;
    for (const path of ['/livez', '/readyz', '/metrics']) {
      expect((await fetch(`${management}${path}`)).status, path).to.equal(200);
    }
    expect((await fetch(`${address}/metrics`)).status).to.equal(404);
    expect((await fetch(`${management}/plants`, { method: 'POST' })).status).to.equal(404);
    const [line = ''] = /^.*"listening".*$/m.exec(out) ?? [];
    expect(JSON.parse(line)).to.include(build);
    const { info } = JSON.parse(await (await fetch(`${address}/openapi.json`)).text());
    expect(info['x-build']).to.deep.equal(build);
    const label = `plant_store_build_info{version="${build.version}",commit="`;
    expect((await metricsOf(service)).join('\n')).to.include(label);
  });

  it('counts no probe as refused while the service stops', async () => {
    const service = await start({ SHUTDOWN_DELAY_MS: '1000' });
    const ended = service.stop();
    for (const listener of [service.address, service.management]) {
      expect((await fetch(`${listener}/readyz`)).status).to.equal(503);
    }
    expect(await metricsOf(service)).to.include.members([
      'plant_store_ready 0',
      'plant_store_requests_refused_total 0',
    ]);
    expect(await ended).to.equal(0);
  });

  it('counts connections beyond MAX_CONNECTIONS, which are closed', async () => {
    const service = await start({ MAX_CONNECTIONS: '1' });
    const kept = connectTo(service, 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(kept, 'data');
    const refused = connectTo(service, '');
    await once(refused, 'close');
    expect(refused.bytesRead).to.equal(0);
    expect(await metricsOf(service)).to.include('plant_store_connections_refused_total 1');
    kept.destroy();
  });
});
