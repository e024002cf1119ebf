import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { CreatePlant, type NewPlant } from '@plant-store/domain';
import {
  type AppOptions,
  createApp,
  createServer,
  type ServerOptions,
} from '@plant-store/http-koa';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';

/** The token that a listening application accepts. */
export const TOKEN = 'a-token-for-tests';
const sha256 = tokenDigest(TOKEN);

interface Options extends AppOptions, Omit<ServerOptions, 'observer'> {
  readonly ready?: () => Promise<void>;
}

/** Starts an application that stores its plants in `plants`, on a free port. */
export async function listeningApp(options: Options, plants = new Map<bigint, NewPlant>()) {
  const app = createApp(
    {
      createPlant: new CreatePlant(new MemoryPlantRepository(plants)),
      tokenVerifier: new StaticTokenVerifier([{ sha256, label: 'test' }]),
      ready: options.ready ?? (async () => {}),
      observer: { begun() {}, ended() {}, failed() {} },
    },
    options,
  );
  const server = createServer(app, options);
  return { server, ...(await listening(server)) };
}

/**
 * Returns a function that starts such an application, and opens connections to it. Both are closed after each test of
 * a suite.
 */
export function useListeningApp() {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return async (options: Options = {}) => {
    const { server, port, close } = await listeningApp(options);
    closing.push(close);
    const client = async () => {
      const ends = await connected(server);
      closing.push(() => ends.socket.destroy());
      return ends;
    };
    return { server, port, client };
  };
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

/** Opens a connection to a server. Resolves with both ends. Not for concurrent calls. */
export async function connected(server: Server): Promise<{ socket: Socket; accepted: Socket }> {
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const [[accepted]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
  return { socket, accepted };
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
