import { hooksOf, suiteOf } from '@plant-store/contract-suite';
import type { PlantRepository } from '@plant-store/domain';
import type { PlantReader } from '@plant-store/plant-reader';
import type { OpenStore } from '@plant-store/plant-repository-contract';
import { reading } from './reading.js';

/** A new, empty store under test, which can be read. */
export interface OpenReader extends OpenStore {
  readonly repository: PlantRepository & PlantReader;
  /** Another program stores something under this id that is not a plant, such as a name that is not a string. */
  storeNoPlant?(id: bigint): Promise<void>;
}

/** The promises of `PlantReader` as cases. */
export const readerCases = reading;

/** What a store may lack, and the hooks that it then leaves out, as for `describePlantRepository`. */
const CAPABILITIES = { 'disk or server': hooksOf(readerCases) };

/** Declares the suite that every `PlantReader` must pass, as `describePlantRepository` does. */
export const describePlantReader = suiteOf(
  'PlantReader',
  readerCases,
  ({ repository }) => repository.close(),
  CAPABILITIES,
);
