import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { MongoPlantDatabase } from '../src/mongo-plant-database.js';

describe('An insert of several plants', () => {
  it('is used unless a router is in front of the shards, of which one may have no primary', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const open = async (query: string) => {
      const uri = `mongodb://127.0.0.1:${port}/?serverSelectionTimeoutMS=1${query}`;
      const database = new MongoPlantDatabase(uri, {
        collection: 'plants',
        createCollection: false,
      });
      await database.page({ limit: 1 }, new AbortController().signal).catch(() => undefined);
      await database.close();
      return database.maxTogether;
    };
    expect(await open('')).to.be.above(1);
    expect(await open('&loadBalanced=true')).to.equal(1);
    server.close();
  });
});
