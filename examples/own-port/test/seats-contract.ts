import { contractFor, errorOf, inTime, suiteOf } from '@plant-store/contract-suite';
import { expect } from 'chai';
import { type Seats, SeatsUnavailableError } from '../src/seats.js';

/** Faults of the server that a test can cause. */
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

const sentence = contractFor<OpenSeats, SeatFaults>();

const TIME_LIMIT_MS = 1_000;
const reserve = ({ seats }: OpenSeats, guest: string) =>
  inTime(seats.reserve('A1', guest), TIME_LIMIT_MS, `reserve for ${guest}`);

async function expectUnavailable(call: Promise<unknown>, what: string): Promise<void> {
  const error = await errorOf(call);
  if (error instanceof SeatsUnavailableError) return;
  expect.fail(`${what}: expected SeatsUnavailableError in an outage, got ${error ?? 'a result'}`);
}

/** The sentences of the port. */
export const seatsCases = [
  sentence('gives a seat to one of several guests, who keeps it', [], async (open) => {
    const guests = ['Ada', 'Grace', 'Mary'];
    const reserved = await Promise.all(guests.map((guest) => reserve(open, guest)));
    const owners = guests.filter((_, index) => reserved[index]);
    expect(owners, 'the guests who were told that they have the seat').to.have.length(1);
    expect(await open.seats.guestOf('A1')).to.equal(owners[0]);
    expect(await open.seats.guestOf('A2')).to.equal(undefined);
  }),
  sentence(
    "reports a seat as the guest's when the response is lost",
    ['loseNextResponse'],
    async (open) => {
      await open.loseNextResponse();
      let reserved: boolean | undefined;
      const error = await errorOf(
        reserve(open, 'Ada').then((result) => {
          reserved = result;
        }),
      );
      if (reserved === true || error instanceof SeatsUnavailableError) return;
      expect.fail(`seat A1 was free: expected that Ada has it, got ${error ?? reserved}`);
    },
  ),
  sentence(
    'is unavailable in time when the server cannot be reached, and works again afterwards',
    ['outage', 'recover'],
    async (open) => {
      await reserve(open, 'Ada');
      await open.outage();
      await expectUnavailable(reserve(open, 'Ada'), 'reserve');
      await expectUnavailable(
        inTime(open.seats.guestOf('A1'), TIME_LIMIT_MS, 'guestOf'),
        'guestOf',
      );
      await open.recover();
      expect(await reserve(open, 'Grace'), 'whether Grace has the seat of Ada').to.equal(false);
    },
  ),
];

/** Declares the suite that every adapter of `Seats` must pass. */
export const describeSeats = suiteOf<OpenSeats, keyof SeatFaults>('Seats', seatsCases, (opened) =>
  opened.close(),
);
