import { contractFor, hooksOf, inTime, suiteOf } from '@plant-store/contract-suite';
import { expect } from 'chai';
import { type Seats, SeatsUnavailableError } from '../src/seats.js';

/** Faults of the server that a test can inject. */
export interface SeatFaults {
  /** From now on, the server cannot be reached. */
  outage(): Promise<void>;
  /** The server carries out the next reservation, but the connection ends before the response. */
  loseNextResponse(): Promise<void>;
  /** Ends every fault. The suite calls it at the end of each case that has used a hook. */
  recover(): Promise<void>;
}

/** An adapter under test. Each hook is optional. */
export interface OpenSeats extends Partial<SeatFaults> {
  readonly seats: Seats;
  close(): Promise<void>;
}

const given = contractFor<OpenSeats, SeatFaults>();

const TIME_LIMIT_MS = 1_000;
const reserve = ({ seats }: OpenSeats, guest: string) =>
  inTime(seats.reserve('A1', guest), TIME_LIMIT_MS, `reserve for ${guest}`);

/** For `catch`: every other error fails the case. */
function unavailable(error: unknown): string {
  if (error instanceof SeatsUnavailableError) return 'unavailable';
  throw error;
}

/** The promises of the port. */
export const seatsCases = {
  'gives a seat to one of several guests, who keeps it': given([], async (open) => {
    const guests = ['Ada', 'Grace', 'Mary'];
    const reserved = await Promise.all(guests.map((guest) => reserve(open, guest)));
    const owners = guests.filter((_, index) => reserved[index]);
    expect(owners, 'the guests whose reservation succeeded').to.have.length(1);
    expect(await open.seats.guestOf('A1'), 'the guest of A1').to.equal(owners[0]);
    expect(await open.seats.guestOf('A2'), 'the guest of the free seat A2').to.equal(undefined);
  }),
  "reports a seat as the guest's when the response is lost": given(
    ['loseNextResponse'],
    async (open) => {
      await open.loseNextResponse();
      const reserved = await reserve(open, 'Ada').catch(unavailable);
      expect(reserved, 'whether Ada has the free seat').to.be.oneOf([true, 'unavailable']);
    },
  ),
  'reports in time that the server cannot be reached, and recovers': given(
    ['outage', 'recover'],
    async (open) => {
      await reserve(open, 'Ada');
      await open.outage();
      expect(await reserve(open, 'Ada').catch(unavailable), 'reserve').to.equal('unavailable');
      const asking = inTime(open.seats.guestOf('A1'), TIME_LIMIT_MS, 'guestOf');
      expect(await asking.catch(unavailable), 'guestOf').to.equal('unavailable');
      await open.recover();
      expect(await reserve(open, 'Grace'), 'whether Grace has the seat of Ada').to.equal(false);
    },
  ),
};

/** Declares the suite that every adapter of `Seats` must pass. */
export const describeSeats = suiteOf('Seats', seatsCases, (opened) => opened.close(), {
  server: hooksOf(seatsCases),
});
