import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreatePlant, type NewPlant } from '@plant-store/domain';
import { type AppOptions, createApp, createServer } from '@plant-store/http-koa';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';

/** The token that a listening application accepts. */
export const TOKEN = 'a-token-for-tests';
const sha256 = tokenDigest(TOKEN);

/** Starts an application that stores its plants in `plants`, on a free port. */
export async function listeningApp(options: AppOptions, plants = new Map<bigint, NewPlant>()) {
  const app = createApp(
    {
      createPlant: new CreatePlant(new MemoryPlantRepository(plants)),
      tokenVerifier: new StaticTokenVerifier([{ sha256, label: 'test' }]),
      ready: async () => {},
      observer: { begun() {}, ended() {}, failed() {} },
    },
    options,
  );
  return listening(createServer(app));
}

/** Lets a server listen on a free port, or on a Unix socket. */
export async function listening(server: Server, path?: string) {
  await once(path === undefined ? server.listen(0, '127.0.0.1') : server.listen(path), 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { port, origin: `http://127.0.0.1:${port}`, close };
}

/** Returns the bytes of a request to create a plant with this body. */
export function rawCreate(body: string): string {
  return [
    'POST /plants HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}
