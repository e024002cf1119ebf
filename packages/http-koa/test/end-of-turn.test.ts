import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { onAccepted, onWrite } from './accepted-sockets.js';
import { listeningApp, rawCreate } from './listening-app.js';

/** Keeps plants, and calls back whenever one is stored. */
class ObservedPlants extends Map<bigint, NewPlant> {
  stored = (): void => {};

  override set(id: bigint, plant: NewPlant): this {
    this.stored();
    return super.set(id, plant);
  }
}

describe('The requests of one turn of the event loop', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function start() {
    const plants = new ObservedPlants();
    const accepted: Socket[] = [];
    const { port, close } = await listeningApp({}, plants);
    closing.push(
      close,
      onAccepted(port, (socket) => accepted.push(socket)),
    );
    const client = async () => {
      const socket = connect(port, '127.0.0.1').setEncoding('latin1');
      closing.push(() => socket.destroy());
      const before = accepted.length;
      await once(socket, 'connect');
      while (accepted.length === before) await new Promise(setImmediate);
      return socket;
    };
    return { plants, accepted, client };
  }

  it('are all carried out before the first is answered', async () => {
    const { plants, accepted, client } = await start();
    const clients = [await client(), await client(), await client()];
    const events: string[] = [];
    plants.stored = () => events.push('stored');
    for (const socket of accepted) onWrite(socket, () => events.push('answered'));
    clients.forEach((socket, id) => {
      socket.write(rawCreate(`{"id":${id},"name":"Monstera"}`));
    });
    await Promise.all(clients.map((socket) => once(socket, 'data')));
    const inTurn = ['stored', 'stored', 'stored', 'answered', 'answered', 'answered'];
    expect(events).to.deep.equal(inTurn);
  });

  it('hang no listener of Koa on their connections', async () => {
    const { plants, accepted, client } = await start();
    const socket = await client();
    const listeners = () => accepted[0]?.listenerCount('error');
    const before = listeners();
    const during: unknown[] = [];
    plants.stored = () => during.push(listeners());
    socket.write(rawCreate('{"id":1,"name":"Monstera"}'));
    await once(socket, 'data');
    expect(during).to.deep.equal([before]);
  });

  it('are followed by others also behind a body as large as a stream buffers', async () => {
    const { plants, client } = await start();
    const socket = await client();
    for (const id of [1, 2, 3]) {
      const body = `{"id":${id},"name":"Monstera","soil":""}`;
      const soil = 'x'.repeat(16_384 - body.length);
      socket.write(rawCreate(body.replace('""', `"${soil}"`)));
      const [answer] = await once(socket, 'data');
      expect(answer).to.match(/^HTTP\/1\.1 200 /);
    }
    expect(plants.size).to.equal(3);
  });
});
