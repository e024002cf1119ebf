import { rejects } from 'node:assert/strict';
import { mocha } from '@plant-store/contract-suite/mocha';
import { FaultyNetwork } from '@plant-store/faulty-network';
import { HttpSeats } from '../src/http-seats.js';
import { MemorySeats } from '../src/memory-seats.js';
import type { Seats } from '../src/seats.js';
import { ForgetfulSeats } from './forgetful-seats.js';
import { seatServer } from './seat-server.js';
import { describeSeats, type OpenSeats, seatsCases } from './seats-contract.js';

describeSeats(
  mocha,
  'MemorySeats',
  async () => ({ seats: new MemorySeats(), close: async () => undefined }),
  { without: ['server'] },
);

/** Opens an adapter with a server of its own, and a network between them that a test can make fail. */
async function openHttp(seatsAt: (origin: string) => Seats): Promise<OpenSeats> {
  const server = await seatServer();
  const network = await FaultyNetwork.before(server.port, 'PUT ');
  return {
    seats: seatsAt(`http://${network.host}`),
    outage: () => network.cut(),
    loseNextResponse: async () => network.loseResponses('cut'),
    recover: () => network.restore(),
    async close() {
      await network.close();
      server.close();
    },
  };
}

describeSeats(mocha, 'HttpSeats', () => openHttp((origin) => new HttpSeats(origin)));

describe('The suite of Seats', () => {
  it('catches an adapter that does not recognise its own reservation on retry', async () => {
    const opened = await openHttp((origin) => new ForgetfulSeats(origin));
    const lost = seatsCases["reports a seat as the guest's when the response is lost"];
    await rejects(lost.run(opened), /whether Ada has the free seat: expected false/);
    await opened.close();
  });
});
