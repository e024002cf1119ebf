import { once } from 'node:events';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { listeningApp, rawCreate } from '../listening-app.js';
import { connected, onWrite } from './accepted-sockets.js';

/** A map of plants that calls `stored` whenever one is stored. */
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
    const { port, close } = await listeningApp({}, plants);
    closing.push(close);
    const client = async () => {
      const ends = await connected(port);
      closing.push(() => ends.socket.destroy());
      return ends;
    };
    return { plants, client };
  }

  it('are all carried out before the first response', async () => {
    const { plants, client } = await start();
    const clients = [await client(), await client(), await client()];
    const events: string[] = [];
    plants.stored = () => events.push('stored');
    for (const { accepted } of clients) onWrite(accepted, () => events.push('responded'));
    clients.forEach(({ socket }, id) => {
      socket.write(rawCreate(`{"id":${id},"name":"Monstera"}`));
    });
    await Promise.all(clients.map(({ socket }) => once(socket, 'data')));
    const inTurn = ['stored', 'stored', 'stored', 'responded', 'responded', 'responded'];
    expect(events).to.deep.equal(inTurn);
  });

  it('add no listeners of Koa to their connections', async () => {
    const { plants, client } = await start();
    const { socket, accepted } = await client();
    const listeners = () => accepted.listenerCount('error');
    const before = listeners();
    const during: unknown[] = [];
    plants.stored = () => during.push(listeners());
    socket.write(rawCreate('{"id":1,"name":"Monstera"}'));
    await once(socket, 'data');
    expect(during).to.deep.equal([before]);
  });

  it('are followed by others, also after bodies that fill the buffer of a stream', async () => {
    const { plants, client } = await start();
    const { socket } = await client();
    for (const id of [1, 2, 3]) {
      const body = `{"id":${id},"name":"Monstera","soil":""}`;
      const soil = 'x'.repeat(16_384 - body.length);
      socket.write(rawCreate(body.replace('""', `"${soil}"`)));
      const [response] = await once(socket, 'data');
      expect(response).to.match(/^HTTP\/1\.1 200 /);
    }
    expect(plants.size).to.equal(3);
  });
});
