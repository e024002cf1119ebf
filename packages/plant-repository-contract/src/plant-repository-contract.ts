import { suiteOf } from '@plant-store/contract-suite';
import { conduct } from './conduct.js';
import { ids } from './ids.js';
import type { DatabaseFaults, OpenReader, OpenStore } from './open-store.js';
import { outcomes } from './outcomes.js';
import { reading } from './reading.js';
import { values } from './values.js';

/** The sentences of `PlantRepository` as cases. */
export const contractCases = { ...values, ...ids, ...outcomes, ...conduct };

/** The sentences of `PlantReader` as cases. */
export const readerCases = reading;

/** Declares the suite that every `PlantRepository` must pass. Each case opens a new, empty store, and closes it. */
export const describePlantRepository = suiteOf<OpenStore, keyof DatabaseFaults>(
  'PlantRepository',
  contractCases,
  ({ repository }) => repository.close(),
);

/** Declares the suite that every `PlantReader` must pass, as {@link describePlantRepository} does. */
export const describePlantReader = suiteOf<OpenReader, keyof DatabaseFaults>(
  'PlantReader',
  readerCases,
  ({ repository }) => repository.close(),
);
