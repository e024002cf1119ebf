import { OutcomeUnknownError } from '@plant-store/domain';
import { expect } from 'chai';
import { GroupCommit } from '../src/group-commit.js';
import { type ShardFault, SimulatedRouter } from './support/simulated-router.js';
import { AVAILABLE, LIMITS, plant } from './support/storage-with.js';
import { VirtualTime } from './support/virtual-time.js';

const TIME_LIMIT_MS = 15_000;
const CLIENTS = 100;
const CLIENTS_MS = 10_000;
/** One every 5 ms. */
const HEALTHY = CLIENTS_MS / 5;
const RUN_MS = 60_000;

describe('Before two shards, one of which has no primary,', function () {
  this.timeout(60_000);

  let time: VirtualTime;

  beforeEach(() => {
    time = new VirtualTime();
  });

  function open(fault: ShardFault) {
    const router = new SimulatedRouter(time, fault);
    const { storage } = router;
    const plants = new GroupCommit({
      ...{ storage, availability: AVAILABLE, clock: time },
      observer: () => undefined,
    });
    const add = (id: number) => plants.add(plant(BigInt(id)), TIME_LIMIT_MS);
    return { router, add };
  }

  /**
   * For 10 s, adds 200 plants a second for the healthy shard. Clients of the other one add a plant each, and the next one
   * when the outcome is known. Resolves with what became of the plants.
   */
  async function run(fault: ShardFault) {
    const { router, add } = open(fault);
    const durations: number[] = [];
    const failures: unknown[] = [];
    for (let id = 0; id < HEALTHY; id += 1) {
      const addHealthy = async () => {
        const added = time.now();
        await add(2 * id);
        durations.push(time.now() - added);
      };
      time.after(id * 5, () => void addHealthy());
    }
    const client = async (id: number): Promise<void> => {
      await add(id).catch((error: unknown) => failures.push(error));
      if (time.now() < started + CLIENTS_MS) await client(id + 2 * CLIENTS);
    };
    const started = time.now();
    for (let id = 1; id < 2 * CLIENTS; id += 2) time.after(id, () => void client(id));
    await time.runOut(RUN_MS);
    return { router, durations, failures };
  }

  for (const fault of ['silent', 'merged', 'each'] as const) {
    it(`every plant of the other is stored, 98 % within 2.5 seconds: ${fault}`, async () => {
      const { router, durations, failures } = await run(fault);
      expect(durations).to.have.length(HEALTHY);
      const slow = durations.filter((ms) => ms > 2_500);
      expect(slow.length).to.be.below(0.02 * HEALTHY);
      expect(failures).to.have.length(CLIENTS);
      for (const failure of failures) expect(failure).to.be.instanceOf(OutcomeUnknownError);
      expect(router.maxOpen).to.be.at.most(LIMITS.ordinary + LIMITS.again + LIMITS.stragglers);
    });
  }

  it('an outage of both costs no insert for each plant', async () => {
    const { router, add } = open('silent');
    const adding = Array.from({ length: 4_000 }, (_, id) => add(2 * id + 1));
    time.after(800, () => {
      router.fault = undefined;
    });
    await time.runOut(RUN_MS);
    await Promise.all(adding);
    expect(router.sizes.length).to.be.below(100);
  });
});
