import { once } from 'node:events';
import { ids } from './application.js';
import { createContainer } from './container.js';
import { readSettings } from './settings.js';

const settings = readSettings(process.env);
const container = createContainer(settings);
const app = await container.getAsync(ids.app);
const server = app.listen(settings.PORT, settings.HOST);
await once(server, 'listening');
process.stdout.write(`Plant Store listens on http://${settings.HOST}:${settings.PORT}\n`);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    // Requests in progress get their responses.
    await new Promise((closed) => server.close(closed));
    await container.unbindAllAsync();
  });
}
