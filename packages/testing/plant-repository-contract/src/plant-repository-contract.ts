import { hooksOf, suiteOf } from '@plant-store/contract-suite';
import { conduct } from './conduct.js';
import { ids } from './ids.js';
import type { DatabaseFaults } from './open-store.js';
import { outcomes } from './outcomes.js';
import { values } from './values.js';

/** The promises of `PlantRepository` as cases. */
export const contractCases = { ...values, ...ids, ...outcomes, ...conduct };

const hooks = (...names: (keyof DatabaseFaults)[]) => names;

/**
 * What a store may lack, and the hooks that it then leaves out. A store that keeps its plants outside its process offers
 * every other hook: in a file, for example, with a file system that a test makes fail.
 */
export const CAPABILITIES = {
  'disk or server': hooksOf(contractCases),
  connections: hooks('connections', 'loseConnections', 'delayNextWrite'),
  transactions: hooks('holdUncommitted'),
  'setting for durability': hooks('relaxDurability'),
};

/** Declares the suite that every `PlantRepository` must pass. Each case opens a new, empty store, and closes it. */
export const describePlantRepository = suiteOf(
  'PlantRepository',
  contractCases,
  ({ repository }) => repository.close(),
  CAPABILITIES,
);
