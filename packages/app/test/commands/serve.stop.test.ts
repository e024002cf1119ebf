import { rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { StorageUnavailableError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { close } from '../../src/commands/serve.js';
import { readConfiguration } from '../../src/configuration/configuration.js';
import { createContainer, ids } from '../../src/container.js';
import { Command, connectTo, type Service, serveHere, stopAll } from '../support/in-process.js';

const HEAD = `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;

async function refusesConnections({ address }: Service): Promise<void> {
  while (await fetch(`${address}/livez`).catch(() => undefined));
}

/** Sends the beginning of a request. Resolves when the service has read it. */
async function sendPart(service: Service, request: string) {
  const socket = connectTo(service, request);
  await once(socket, 'connect');
  await fetch(`${service.address}/livez`);
  return socket;
}

/** The defaults of the limits are longer than the time limit of the tests. */
describe('Stopping', () => {
  afterEach(stopAll);

  it('waits for a request that is still arriving, closes its connection, and reports its health until then', async () => {
    const service = await serveHere({ MANAGEMENT_PORT: '0' });
    const socket = await sendPart(service, `${HEAD}Content-Length: 18\r\n\r\n{"id":1,`);
    service.emit('SIGTERM');
    await refusesConnections(service);
    expect((await fetch(`${service.management}/livez`)).status).to.equal(200);
    socket.write('"name":""}');
    const response = (await socket.toArray()).join('');
    expect(response).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    expect(response).to.match(/\r\nConnection: close\r\n/);
    expect(await service.ended).to.equal(0);
  });

  it('cuts off open connections at the time limit', async () => {
    const service = await serveHere({ SHUTDOWN_TIMEOUT_MS: '300' });
    const socket = await sendPart(service, `${HEAD}Content-Length: 17\r\n\r\n{`);
    const ended = service.stop();
    await once(socket.resume(), 'close');
    expect(await ended).to.equal(0);
  });

  it('closes the token verifier and the storage, also when no server listens', async () => {
    const configuration = await readConfiguration({ ACCESS_TOKEN_SHA256 }, false);
    const container = createContainer(configuration, process.stdout);
    const tokenVerifier = await container.getAsync(ids.tokenVerifier);
    const plantRepository = await container.getAsync(ids.plantRepository);
    await container.getAsync(ids.server);
    await close(container);
    await rejects(tokenVerifier.verify(TOKEN), TokenVerifierUnavailableError);
    await rejects(plantRepository.ready(), StorageUnavailableError);
  });

  it('waits for the end of the start, as a SIGHUP does', async () => {
    const env = { PORT: '0', LOG_FORMAT: 'json', ACCESS_TOKEN_SHA256 };
    const service = new Command(['serve'], env);
    service.emit('SIGHUP');
    expect(await service.stop()).to.equal(0);
    expect(service.out).to.match(/SIGHUP: /);
    expect(service.out).to.match(/"listening"[\s\S]*"stopping"[\s\S]*"stopped"/);
  });

  it('ends at once at the second signal', async () => {
    const service = await serveHere({ SHUTDOWN_DELAY_MS: '20000' });
    service.emit('SIGTERM');
    await service.printed(/"signal":"SIGTERM","msg":"stopping"/);
    service.emit('SIGINT');
    expect(await service.ended).to.equal(1);
    expect(service.err).to.equal('plant-store: ended by a second signal, SIGINT\n');
  });
});
