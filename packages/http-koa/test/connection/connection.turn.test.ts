import { once } from 'node:events';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { connected, onWrite } from '../support/accepted-sockets.js';
import { listeningApp, rawCreate } from '../support/listening-app.js';

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
});
