import { hooksOf, suiteOf } from '@plant-store/contract-suite';
import { reading } from './reading.js';

export type { OpenReader } from './reading.js';

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
