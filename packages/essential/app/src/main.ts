import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Container } from 'inversify';
import { adapters } from './adapters.js';
import { application, ids } from './application.js';
import { readSettings } from './settings.js';

const settings = readSettings(process.env);
const { BASE_PATH: basePath, BODY_LIMIT: bodyLimit, REQUEST_DEADLINE_MS: timeLimitMs } = settings;
const container = new Container({ defaultScope: 'Singleton' });
container.load(application({ basePath, bodyLimit, timeLimitMs }), adapters(settings));

const app = await container.getAsync(ids.app);
const server = app.listen(settings.PORT, settings.HOST);
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const host = settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST;
process.stdout.write(`Plant Store listens on http://${host}:${port}\n`);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    // Requests in progress get their responses, but a busy connection does not keep the service alive.
    setTimeout(() => server.closeAllConnections(), timeLimitMs).unref();
    await new Promise((closed) => server.close(closed));
    await container.unbindAllAsync();
  });
}
