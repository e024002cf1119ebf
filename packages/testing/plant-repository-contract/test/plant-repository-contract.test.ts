import { describeSuiteItself } from '@plant-store/contract-suite/mocha';
import { contractCases } from '@plant-store/plant-repository-contract';
import { openStore, storeVariants } from './support/correct-store.js';
import { faultyAdapters } from './support/faulty-adapters.js';

describeSuiteItself('PlantRepository', contractCases, openStore, storeVariants, faultyAdapters);
