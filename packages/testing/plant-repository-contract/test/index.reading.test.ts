import { describeSuiteItself } from '@plant-store/contract-suite/mocha';
import { readerCases } from '@plant-store/plant-reader-contract';
import { openStore } from './support/correct-store.js';
import { reading } from './support/liars/reading.js';

describeSuiteItself('PlantReader', readerCases, openStore, {}, reading);
